/** Reads the document of an API. The branch work-s1 has it. */
import type { Api } from "./operation.ts";

export interface ReadApiOptions {
  document: string;
  baseUrl?: string | undefined;
  include?: string[] | undefined;
  exclude?: string[] | undefined;
  overlays?: string[] | undefined;
  headers?: Record<string, string> | undefined;
  cacheFolder: string;
  signal: AbortSignal;
}

export async function readApi(options: ReadApiOptions): Promise<Api> {
  throw new Error(`cannot read ${options.document}`);
}
