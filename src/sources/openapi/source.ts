/** The source of an entry with an OpenAPI document: each operation is a tool. */
import type { CallToolResult } from "@modelcontextprotocol/client";
import { ClaudikinsError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { isWebAddress, type SourceAuth } from "../../config/sources.ts";
import { RememberedReads } from "../remembered-reads.ts";
import type { Send, Source, SourceCall, SourceFiles } from "../source.ts";
import { resultOf } from "./answer.ts";
import type { Api, Operation } from "./api.ts";
import { Credentials } from "./credentials.ts";
import { requestOf } from "./request.ts";

/** The entry, and what it is given by the connection. */
export interface ApiOptions {
  /** The key of the entry in the config. */
  entry: string;
  baseUrl: string | undefined;
  auth: SourceAuth | undefined;
  /** Whether the user can sign in to the API. */
  maySignIn: boolean;
  files: SourceFiles | undefined;
  /** Makes what sends requests to these origins. `url` is the address of the API. */
  sender: (origins: ReadonlySet<string>, url: URL) => Promise<Send>;
}

/** Throws CONFIG_INVALID if the entry does not fit the document. */
export async function apiSource(api: Api, options: ApiOptions): Promise<Source> {
  const { baseUrl, auth, maySignIn, sender } = options;
  const credentials = new Credentials(api, auth, maySignIn);
  const addresses = baseUrl === undefined ? addressesOf(api) : [baseUrl];
  const [first] = addresses;
  const origins = new Set(addresses.map((each) => new URL(each).origin));
  const send = first === undefined ? noAddress : await sender(origins, new URL(first));
  return new ApiSource(api, { ...options, credentials, send });
}

/** All addresses that the document names. */
function addressesOf({ servers, operations }: Api): string[] {
  return [...servers, ...operations.flatMap((each) => each.servers ?? [])].filter(isWebAddress);
}

const noAddress: Send = () => {
  throw new ClaudikinsError("CONFIG_INVALID", "its document does not say at which address the API is", {
    hint: 'Write it into its entry in the config: "baseUrl": "https://…".',
  });
};

class ApiSource implements Source {
  readonly #api: Api;
  readonly #options: ApiOptions & { credentials: Credentials; send: Send };
  readonly #reads: RememberedReads;
  readonly #operations: ReadonlyMap<string, Operation>;

  constructor(api: Api, options: ApiOptions & { credentials: Credentials; send: Send }) {
    this.#api = api;
    this.#options = options;
    this.#reads = new RememberedReads(options.send);
    this.#operations = new Map(api.operations.map((each) => [each.name, each]));
  }

  get info() {
    return { name: this.#api.title, version: this.#api.version };
  }

  get tools() {
    return this.#api.tools;
  }

  async call(tool: string, args: JsonObject, { signal, program }: SourceCall): Promise<CallToolResult> {
    const operation = this.#operations.get(tool);
    if (!operation) throw new ClaudikinsError("TOOL_NOT_FOUND", `The API has no operation called "${tool}"`);
    const { entry, baseUrl, credentials, files } = this.#options;
    const base = baseUrl ?? [...(operation.servers ?? []), ...this.#api.servers].find(isWebAddress);
    const request = await requestOf(operation, args, base ?? "http://localhost", files);
    const { url } = request;
    const asked = new URL(url);
    const signing = credentials.sign(request, operation);
    const response = await this.#reads.send({ ...request, signsIn: signing.signsIn }, program, signal);
    return resultOf({ entry, operation, args, url: asked, response, signing, credentials, files });
  }

  async close(): Promise<void> {}
}
