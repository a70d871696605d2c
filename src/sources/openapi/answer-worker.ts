/** The worker that reads large answers of web APIs. */
import { answerJobs } from "../../base/off-thread.ts";
import { packedAnswer } from "./json-answer.ts";

declare const self: Worker;

answerJobs(self, packedAnswer);
