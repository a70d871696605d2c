/**
 * Sends the headers that programs print with each request: the program of a server's `headersHelper`, and the commands in its `headers`. They run
 * when a connection is opened, and once more after the server has refused the headers, however many requests were refused.
 */
import { isObject, parsedJson } from "../../base/json-object.ts";
import { headerName, httpForm } from "../../config/address.ts";
import type { Environment } from "../../config/environment.ts";
import type { NetworkServer } from "../../config/load.ts";
import { referencesOf } from "../../config/secrets/references.ts";
import { NetworkFailure } from "../failures/network-failure.ts";
import { ServerFailure } from "../failures/server-failure.ts";
import { type OutputOptions, outputOf, ProgramFailure } from "../process/program-output.ts";
import { forgetPrinted, withEntryValues } from "../values/entry-values.ts";
import { learnSecrets } from "../values/secrets.ts";
import type { Authorizer } from "./endpoint.ts";

/** A new connection uses headers of this age or less. A server that closes idle connections does not cost a run each time. */
const headersFreshMs = 300_000;

/** Time in which new headers that were refused, or a run that failed, are not followed by another run. */
const headersFailureMs = 30_000;

/** Headers that belong to the transport. The program cannot change them, and neither can `headers` in the config. */
const ofTransport = new Set([
  ...["accept", "content-type", "mcp-session-id", "mcp-protocol-version", "last-event-id"],
  ...["connection", "content-length", "host", "transfer-encoding", "upgrade"],
]);

interface HelperAnswer {
  headers: Record<string, string>;
  at: number;
  /** The person for whom they were printed, and the groups at that time. */
  printedFor: string;
}

/** The headers of one server, for all its connections. */
export class HeadersHelper {
  readonly #server: NetworkServer;
  readonly #options: () => OutputOptions;
  readonly #commanded: Record<string, string>;
  #answer: HelperAnswer | undefined;
  #running: Promise<HelperAnswer> | undefined;
  /** By HTTP status: until when new headers would be refused as well. A single tool may be forbidden, while the others work. */
  readonly #refusedUntil = new Map<number, number>();
  #failure: { error: unknown; until: number } | undefined;

  /** `options` is asked before each run: what is known of a person may change. */
  constructor(server: NetworkServer, options: () => OutputOptions) {
    this.#server = server;
    this.#options = options;
    this.#commanded = commandedHeaders(server);
  }

  /** What the server refuses, for errors. */
  get refused(): { what: string; hint: string } {
    return this.#server.headersHelper === undefined
      ? {
          what: "it refused the headers that its commands printed",
          hint: "Run the command of the config in a terminal and check what it prints.",
        }
      : {
          what: "it refused the headers of its headersHelper",
          hint: 'Run the line of "headersHelper" in a terminal and check what it prints.',
        };
  }

  /** For a connection that is being opened. */
  async forNewConnection(): Promise<void> {
    if (this.#answer && performance.now() - this.#answer.at > headersFreshMs) this.#answer = undefined;
    await this.headers();
  }

  /** The headers that were printed last, unless the person has other groups since. */
  get #fresh(): HelperAnswer | undefined {
    return this.#answer?.printedFor === printedFor(this.#options().env) ? this.#answer : undefined;
  }

  /** Throws NetworkFailure if the program fails. */
  async headers(): Promise<Record<string, string>> {
    return (this.#fresh ?? (await this.#run())).headers;
  }

  /** Like `fetch`, with the headers. A request that is refused for them is sent once more with new ones. */
  readonly fetch = async (to: string | URL, init: RequestInit): Promise<Response> => {
    const used = this.#fresh ?? (await this.#run());
    const response = await fetch(to, withHeaders(init, used.headers));
    // Ending a session is not worth a run.
    if (!isRefusal(response) || init.method === "DELETE") return response;
    const next = await this.#after(used, response.status).catch(async (error: unknown) => {
      await response.body?.cancel();
      throw error;
    });
    if (!next) return response;
    await response.body?.cancel();
    const again = await fetch(to, withHeaders(init, next.headers));
    if (isRefusal(again)) this.#refusedUntil.set(again.status, performance.now() + headersFailureMs);
    return again;
  };

  /** The headers for another attempt. Undefined if they would be refused as well. */
  async #after(refused: HelperAnswer, status: number): Promise<HelperAnswer | undefined> {
    // Another request has found out first.
    if (this.#answer && this.#answer !== refused) return this.#answer;
    const now = performance.now();
    if (!this.#running && now < (this.#refusedUntil.get(status) ?? 0)) return undefined;
    if (this.#failure && now < this.#failure.until) throw this.#failure.error;
    try {
      return await this.#run({ isRefused: true });
    } catch (error) {
      this.#failure = { error, until: performance.now() + headersFailureMs };
      throw error;
    }
  }

  #run({ isRefused = false } = {}): Promise<HelperAnswer> {
    const whose = printedFor(this.#options().env);
    this.#running ??= this.#printed(isRefused)
      .then((headers) => {
        this.#failure = undefined;
        this.#answer = { headers, at: performance.now(), printedFor: whose };
        return this.#answer;
      })
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  /** Throws NetworkFailure. */
  async #printed(isRefused: boolean): Promise<Record<string, string>> {
    const { headersHelper } = this.#server;
    const options = this.#options();
    if (Object.keys(this.#commanded).length > 0 && isRefused) forgetPrinted(this.#server, options);
    const { headers } = await withEntryValues({ ...this.#server, headers: this.#commanded }, options).catch(
      (error: unknown) => {
        throw error instanceof ServerFailure
          ? new NetworkFailure(error.why, { code: error.code, hint: error.hint ?? "" })
          : error;
      },
    );
    if (headersHelper === undefined) return headers;
    const printed = await printedHeaders({ ...this.#server, headersHelper }, options);
    learnSecrets(this.#server, Object.values(printed));
    return { ...headers, ...printed };
  }
}

const printedFor = ({ CLAUDIKINS_PERSON: person, CLAUDIKINS_GROUPS: groups }: Environment) =>
  JSON.stringify([person, groups]);

/** Whether programs print headers of the server. */
export function hasPrintedHeaders(server: NetworkServer): boolean {
  return server.headersHelper !== undefined || Object.keys(commandedHeaders(server)).length > 0;
}

/** The headers with a command in their value, in lower case. */
function commandedHeaders(server: NetworkServer): Record<string, string> {
  const isCommanded = (text: string) =>
    [...referencesOf(server, text).values()].some((reference) => "command" in reference);
  const found = Object.entries(server.headers).filter(([, text]) => isCommanded(text));
  return Object.fromEntries(found.map(([name, text]) => [name.toLowerCase(), text]));
}

/** Authorizes requests with the headers of the program, and with a sign-in if the config has one and the program prints no `Authorization`. */
export class HelpedAccess implements Authorizer {
  readonly #helper: HeadersHelper;
  readonly #origin: string;
  readonly #access: Authorizer | undefined;

  /** `access` sends its requests with the helper's `fetch`. */
  constructor(helper: HeadersHelper, url: URL, access: Authorizer | undefined) {
    this.#helper = helper;
    this.#origin = httpForm(url).origin;
    this.#access = access;
  }

  async headers(): Promise<Record<string, string>> {
    const headers = await this.#helper.headers();
    if (!this.#access || hasAuthorization(headers)) return headers;
    return { ...headers, ...(await this.#access.headers()) };
  }

  /** The headers are sent only to the server's own origin. Throws NetworkFailure with AUTH_REQUIRED if the server refuses them. */
  readonly fetch = async (to: string | URL, init: RequestInit): Promise<Response> => {
    if (new URL(to).origin !== this.#origin) return fetch(to, init);
    const access = hasAuthorization(await this.#helper.headers()) ? undefined : this.#access;
    const response = await (access ?? this.#helper).fetch(to, init);
    if (!isRefusal(response) || init.method === "DELETE") return response;
    await response.body?.cancel();
    const { what, hint } = this.#helper.refused;
    throw new NetworkFailure(`${what} (${response.status})`, {
      code: "AUTH_REQUIRED",
      hint: `${hint} claudikins runs it again at most every ${headersFailureMs / 1_000} s.`,
      status: response.status,
    });
  };
}

function hasAuthorization(headers: Record<string, string>): boolean {
  return "authorization" in headers;
}

function isRefusal({ status }: Response): boolean {
  return status === 401 || status === 403;
}

function withHeaders(init: RequestInit, own: Record<string, string>): RequestInit {
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(own)) if (!ofTransport.has(name)) headers.set(name, value);
  return { ...init, headers };
}

type HelpedServer = NetworkServer & { headersHelper: string };

/** Throws NetworkFailure. */
async function printedHeaders(
  server: HelpedServer,
  { env, ...options }: OutputOptions,
): Promise<Record<string, string>> {
  const { headersHelper: command, name, url, cwd = process.cwd() } = server;
  const own = { CLAUDE_CODE_MCP_SERVER_NAME: name, CLAUDE_CODE_MCP_SERVER_URL: url };
  try {
    const text = await outputOf({ command, args: [], isShellLine: true, cwd }, { ...options, env: { ...env, ...own } });
    return headersIn(text);
  } catch (error) {
    if (!(error instanceof ProgramFailure)) throw error;
    if (error.hasNoFolder) throw failed(error.message, 'Create the folder, or correct "cwd" in the config.');
    throw failed(error.message, exitHints[error.exitCode ?? 0]);
  }
}

function headersIn(text: string): Record<string, string> {
  if (text.trim() === "") throw failed("printed nothing", form);
  const value = parsedJson(text);
  if (value === undefined) throw failed("printed something that is not JSON", form);
  if (!isObject(value)) throw failed(`printed ${jsonKind(value)} instead of a JSON object`, form);
  const headers = new Headers();
  for (const [name, each] of Object.entries(value)) {
    if (!headerName.test(name)) throw failed("printed a name that is not valid for a header", form);
    if (typeof each !== "string") throw failed(`printed ${jsonKind(each)} as the value of "${name}"`, form);
    try {
      headers.set(name, each);
    } catch {
      throw failed(`printed a value of "${name}" with characters that are not valid in a header`, form);
    }
  }
  return Object.fromEntries(headers);
}

function jsonKind(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** The exit codes of shells. */
const exitHints: Record<number, string> = {
  126: "Make the program executable, for example with chmod +x.",
  127: 'A program that it names was not found: correct "headersHelper" in the config, or the PATH of claudikins.',
};

const form = 'It must print a JSON object of strings, such as {"Authorization": "Bearer …"}, and nothing else.';
const runIt = 'Run the line of "headersHelper" in a terminal to see what it prints.';

function failed(what: string, hint?: string): NetworkFailure {
  return new NetworkFailure(`its headersHelper ${what}`, { hint: hint === undefined ? runIt : `${hint} ${runIt}` });
}
