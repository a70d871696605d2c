/** The worker that makes APIs of documents, which strangers write and which may be large. */
import { answerJobs } from "../../base/off-thread.ts";
import { type ApiJob, type LoadedApi, loadApi } from "./load-api.ts";

declare const self: Worker;

answerJobs<ApiJob, LoadedApi>(
  self,
  async (job) => {
    const loaded = await loadApi(job);
    // The thread of the protocol takes memory for the API from now on, and the documents are no longer needed.
    Bun.gc(true);
    return loaded;
  },
  ({ bytes: { buffer, byteLength } }) => (buffer.byteLength === byteLength ? [buffer as ArrayBuffer] : []),
);
