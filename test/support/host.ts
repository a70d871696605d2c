/** A host of `serve` as a program: the SDK's client, the messages it received, and the config of a new user. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  type ClientCapabilities,
  type Implementation,
  McpError,
  type Notification,
  ProgressNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { claudikinsCommand } from "./command.ts";
import { testEnvironment } from "./process.ts";
import { fixture } from "./servers.ts";
import type { TemporaryFolder } from "./temporary.ts";

export interface TestHost extends AsyncDisposable {
  client: Client;
  /** All notifications that it received, in order. */
  told: Notification[];
  /** Resolves with the first matching notification, including earlier ones. */
  hears(method: string, fits?: (params: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
  /** Sends any request, and returns the result unchanged. */
  request(method: string, params?: object, options?: object): Promise<Record<string, unknown>>;
  call(name: string, args?: object): Promise<Record<string, unknown>>;
}

export interface HostOptions {
  flags?: string[];
  /** The address of a running `serve --http`; by default one is started. */
  url?: string;
  env?: Record<string, string>;
  capabilities?: ClientCapabilities;
  /** The name and the version that it gives itself. */
  info?: Implementation;
  /** Prepares the client before it connects. */
  prepare?: (client: Client) => void;
  /** The claudikins to start. */
  command?: readonly string[];
}

const anything: z.ZodType<Record<string, unknown>> = z.any();

/** `serve` in the folder, which is also the user's data folder, so that the tools of other tests are unknown. */
export async function openHost(folder: Pick<TemporaryFolder, "path">, options: HostOptions = {}): Promise<TestHost> {
  const { info = { name: "test", version: "1" }, capabilities = {} } = options;
  const client = new Client(info, { capabilities });
  const told: Notification[] = [];
  const waiting = new Set<() => void>();
  const hear = async (notification: Notification) => {
    told.push(notification);
    for (const look of waiting) look();
  };
  client.fallbackNotificationHandler = hear;
  client.setNotificationHandler(ProgressNotificationSchema, hear);
  options.prepare?.(client);
  await client.connect(transportTo(folder, options));
  const request: TestHost["request"] = (method, params = {}, more = {}) =>
    client.request({ method, params } as never, anything, more);
  return {
    client,
    told,
    async hears(method, fits = () => true) {
      const { promise, resolve } = Promise.withResolvers<Record<string, unknown>>();
      const look = () => {
        const found = told.find((each) => each.method === method && fits(each.params ?? {}));
        if (found) resolve(found.params ?? {});
      };
      waiting.add(look);
      look();
      return promise.finally(() => waiting.delete(look));
    },
    request,
    call: (name, args) => request("tools/call", { name, ...(args ? { arguments: args } : {}) }),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function transportTo(
  { path: cwd }: Pick<TemporaryFolder, "path">,
  { flags = [], url, env: more, command: start = claudikinsCommand }: HostOptions,
): Transport {
  if (url !== undefined) return new StreamableHTTPClientTransport(new URL(url)) as never;
  const [command = "", ...args] = [...start, "serve", ...flags];
  const env = testEnvironment({ XDG_DATA_HOME: `${cwd}/data`, ...more });
  return new StdioClientTransport({ command, args, cwd, env, stderr: "inherit" });
}

/** An entry of a server that follows a script: see test/fixtures/servers/scripted.ts. */
export function scripted(folder: TemporaryFolder, name: string, script: object) {
  return fixture("scripted", folder.write(`${name}.json`, script));
}

/** The messages that a scripted server received. */
export async function messagesTo(folder: TemporaryFolder, name: string): Promise<Record<string, unknown>[]> {
  const text = await Bun.file(`${folder.path}/${name}.json.log`).text();
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** The JSON-RPC error of a failed request, unchanged. */
export async function failedRequest(of: Promise<unknown>) {
  const thrown = await of.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof McpError)) throw new Error(`no error of the protocol: ${Bun.inspect(thrown)}`);
  // The client puts its own words before the message.
  const { code, message, data } = thrown;
  return { code, message: message.replace(/^MCP error -?\d+: /, ""), data };
}
