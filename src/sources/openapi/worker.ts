/** The worker that makes APIs of documents, which strangers write and which may be large. */
import { answerJobs } from "../../base/off-thread.ts";
import { type ApiJob, type LoadedApi, loadApi } from "./load-api.ts";

declare const self: Worker;

answerJobs<ApiJob, LoadedApi>(self, loadApi);
