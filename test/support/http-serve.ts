/** `serve --http` as a process, and its hosts: raw ones, which can send anything, and the SDK's. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { ClientCapabilities } from "@modelcontextprotocol/sdk/types.js";
import { claudikinsCommand } from "./command.ts";
import { testEnvironment } from "./process.ts";
import type { TemporaryFolder } from "./temporary.ts";

export interface HttpServe extends AsyncDisposable {
  url: string;
  /** The file of the token that claudikins creates. */
  tokenFile?: string | undefined;
  pid: number;
  /** All output so far. */
  stderr(): string;
  signal(name: "SIGTERM" | "SIGINT" | "SIGHUP"): void;
  /** The exit code. */
  exited: Promise<number>;
}

export interface ServeOptions {
  env?: Record<string, string>;
  command?: string[];
  port?: string;
  /** "kept": the token that claudikins creates. */
  token?: "none" | "kept";
}

/** Starts `serve --http` with the config of the folder at a free port, without a token by default. */
export async function httpServe(folder: TemporaryFolder, flags: string[] = [], options: ServeOptions = {}) {
  const { command = claudikinsCommand, env = {}, port = "0", token = "none" } = options;
  const hasChosen = token === "kept" || flags.some((flag) => /token/.test(flag));
  const child = Bun.spawn(
    [...command, "serve", "--http", port, "--json", ...(hasChosen ? [] : ["--without-token"]), ...flags],
    {
      cwd: folder.path,
      env: testEnvironment({ XDG_DATA_HOME: `${folder.path}/data`, ...env }),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  let stderr = "";
  const reading = (async () => {
    for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) stderr += chunk;
  })();
  const { value } = await child.stdout.getReader().read();
  if (!value) {
    await reading;
    throw new Error(`it did not start: ${stderr}`);
  }
  const { url, tokenFile } = JSON.parse(new TextDecoder().decode(value)) as { url: string; tokenFile?: string };
  const started: HttpServe = {
    url,
    tokenFile,
    pid: child.pid,
    stderr: () => stderr,
    signal: (name) => child.kill(name),
    exited: child.exited,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) child.kill("SIGKILL");
      await child.exited;
    },
  };
  return started;
}

export interface SdkHost extends AsyncDisposable {
  client: Client;
  transport: StreamableHTTPClientTransport;
  /** The text of the result of `execute_code`, without its receipt. */
  execute(code: string, options?: { signal?: AbortSignal; onprogress?: (progress: object) => void }): Promise<string>;
  /** The same, of an execution that was not done. */
  resume(id: string): Promise<string>;
}

export async function sdkHost(
  url: string,
  capabilities: ClientCapabilities = {},
  { prepare = (_: Client) => {}, headers = {} }: { prepare?: (client: Client) => void; headers?: object } = {},
): Promise<SdkHost> {
  const client = new Client({ name: "host", version: "1" }, { capabilities });
  prepare(client);
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { ...headers } } });
  await client.connect(transport as never);
  const executeCode = async (args: object, options: object = {}) => {
    const params = { name: "execute_code", arguments: { ...args } };
    const { content } = await client.callTool(params, undefined, { timeout: 60_000, ...options });
    return (content as { text: string }[])[0]!.text.replace(/\n\n\[[^\n]*\]$/, "");
  };
  return {
    client,
    transport,
    execute: (code, options) => executeCode({ code }, options),
    resume: (id) => executeCode({ resume: id }),
    async [Symbol.asyncDispose]() {
      await transport.terminateSession().catch(() => {});
      await client.close();
    },
  };
}

export const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };

export function initialize(version = "2025-11-25", capabilities: object = {}, name = "raw"): object {
  const params = { protocolVersion: version, capabilities, clientInfo: { name, version: "1" } };
  return { jsonrpc: "2.0", id: 0, method: "initialize", params };
}

export function executeRequest(id: number, code: string, more: object = {}): object {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name: "execute_code", arguments: { code }, ...more } };
}

/** Code that waits for a file in the workspace, and returns the value. `folder.write(signalFile, "")` lets it end. */
export const afterSignal = (value: string) =>
  `while (!fs.existsSync("./workspace/signal")) await new Promise((resolve) => setTimeout(resolve, 20)); return ${value};`;

/** Below the folder of the config. */
export const signalFile = ".claudikins/workspace/signal";

export interface RawSession {
  id: string;
  post(message: unknown, more?: RequestInit): Promise<Response>;
  get(lastEventId?: string, more?: RequestInit): Promise<Response>;
  end(): Promise<Response>;
}

/** An initialized session of raw requests. `more` are further headers. */
export async function rawSession(
  url: string,
  version = "2025-11-25",
  capabilities: object = {},
  name = "raw",
  more: Record<string, string> = {},
): Promise<RawSession> {
  const response = await fetch(url, {
    method: "POST",
    headers: { ...json, ...more },
    body: JSON.stringify(initialize(version, capabilities, name)),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  await response.text();
  const id = response.headers.get("mcp-session-id") ?? "";
  const headers = { ...json, ...more, "mcp-session-id": id, "mcp-protocol-version": version };
  const session: RawSession = {
    id,
    post: (message, more) => fetch(url, { method: "POST", headers, body: JSON.stringify(message), ...more }),
    get: (last, more) =>
      fetch(url, { headers: { ...headers, ...(last === undefined ? {} : { "last-event-id": last }) }, ...more }),
    end: () => fetch(url, { method: "DELETE", headers }),
  };
  await session.post({ jsonrpc: "2.0", method: "notifications/initialized" });
  return session;
}

export interface SentEvent {
  id?: string;
  retry?: string;
  data: string;
  /** Undefined if the data is empty. */
  message?: { id?: number; method?: string; params?: Record<string, unknown>; result?: Result; error?: object };
}

interface Result {
  content: { text: string }[];
  isError?: boolean;
}

/** The events of a stream as they arrive, without comments. */
export async function* eventsOf(response: Response): AsyncGenerator<SentEvent, void> {
  let pending = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const blocks = (pending + chunk).split("\n\n");
    pending = blocks.pop() ?? "";
    for (const block of blocks) {
      if (block.startsWith(":")) continue;
      const fields = new Map(block.split("\n").map((line) => line.split(/:\s?(.*)/s) as [string, string]));
      const data = fields.get("data") ?? "";
      const [id, retry] = [fields.get("id"), fields.get("retry")];
      yield {
        data,
        ...(id === undefined ? {} : { id }),
        ...(retry === undefined ? {} : { retry }),
        ...(data === "" ? {} : { message: JSON.parse(data) }),
      };
    }
  }
}

/** The text of the first result in a stream, without its receipt. */
export async function resultText(response: Response): Promise<string> {
  for await (const { message } of eventsOf(response)) {
    if (message?.result) return message.result.content[0]!.text.replace(/\n\n\[[^\n]*\]$/, "");
    if (message?.error) return JSON.stringify(message.error);
  }
  return "(no result)";
}
