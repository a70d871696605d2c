/** The worker that makes the content of large outcomes. */
import { answerJobs } from "../../off-thread.ts";
import { contentOf, type LargeOutcome } from "./large-content.ts";

declare const self: Worker;

answerJobs(self, (outcome: LargeOutcome) => contentOf(outcome));
