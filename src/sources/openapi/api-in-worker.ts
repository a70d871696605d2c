/** Reads an API from a document: in a worker, with a limit of time. */
import { OffThread, TookTooLong } from "../../base/off-thread.ts";
import type { Api } from "./api.ts";
import { invalid } from "./document/parse-document.ts";
import type { ApiJob, LoadedApi } from "./load-api.ts";
import { apiIn } from "./stored-api.ts";

/** Time for a worker to fetch documents and to make an API of them. 22,000 operations take 5 seconds, and much longer on a busy machine. */
const apiMs = 180_000;

const workers = new OffThread<ApiJob, LoadedApi>("./sources/openapi/worker.ts");

export interface ReadApiOptions extends Omit<ApiJob, "isRemade"> {
  signal: AbortSignal;
}

/** Throws CONFIG_INVALID, FILE_NOT_FOUND, AUTH_REQUIRED, SERVER_UNAVAILABLE, and the reason of the signal. */
export async function readApi({ signal, ...job }: ReadApiOptions): Promise<Api> {
  const { bytes, problem } = await load(job, signal);
  // A copy that was damaged is made again.
  const api = await apiIn(bytes).catch(async () => apiIn((await load({ ...job, isRemade: true }, signal)).bytes));
  return problem === undefined ? api : { ...api, problems: [problem, ...api.problems] };
}

async function load(job: ApiJob, signal: AbortSignal): Promise<LoadedApi> {
  try {
    return await workers.run(job, { limitMs: apiMs, signal });
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error;
    throw invalid(
      `The document took longer than ${apiMs / 1_000} seconds to read`,
      'Choose some of its operations with "include", or use a smaller document.',
    );
  }
}
