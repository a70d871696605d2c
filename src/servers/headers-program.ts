/** Runs the line of `headersHelper` in a shell, and reads the headers that it prints. Nothing that it prints is ever shown: it may be a secret. */
import { existsSync } from "node:fs";
import { systemCodeOf } from "../base/errors.ts";
import { isObject, parsedJson } from "../base/json-object.ts";
import { headerName } from "../config/address.ts";
import type { Environment } from "../config/environment.ts";
import type { NetworkServer } from "../config/load.ts";
import { headersRunMs, maxHeadersOutputBytes } from "./limits.ts";
import { NetworkFailure } from "./network-failure.ts";
import { ProcessGroup } from "./process-group.ts";

export type HelpedServer = NetworkServer & { headersHelper: string };

export interface HeadersProgramOptions {
  /** All of it is passed on, as Claude Code does: such programs read tokens and sockets of the user. */
  env: Environment;
  warn?: ((message: string) => void) | undefined;
  /** Ends the program. */
  signal?: AbortSignal | undefined;
}

/** Throws NetworkFailure. */
export async function printedHeaders(
  server: HelpedServer,
  options: HeadersProgramOptions,
): Promise<Record<string, string>> {
  const group = started(server, options);
  const late = AbortSignal.timeout(headersRunMs);
  const stop = () => group.signal("SIGKILL");
  const signals = [late, ...(options.signal ? [options.signal] : [])];
  for (const signal of signals) signal.addEventListener("abort", stop, { once: true });
  if (options.signal?.aborted) stop();
  try {
    void drained(group.stderr);
    // A program that asks a question must not wait for the answer.
    void Promise.resolve(group.stdin.end()).catch(() => {});
    const text = await output(group.stdout);
    if (text === undefined) stop();
    const how = await group.exited;
    if (text === undefined) throw failed(`printed more than ${maxHeadersOutputBytes / 1_024} KB`);
    if (options.signal?.aborted) throw failed("was ended: claudikins is closing");
    if (late.aborted) throw failed(`did not end within ${headersRunMs / 1_000} s`);
    if (group.exitCode !== 0) throw failed(how, exitHints[group.exitCode ?? 0]);
    return headersIn(text);
  } finally {
    for (const signal of signals) signal.removeEventListener("abort", stop);
  }
}

function started(server: HelpedServer, { env, warn }: HeadersProgramOptions): ProcessGroup {
  const cwd = server.cwd ?? process.cwd();
  const own = { CLAUDE_CODE_MCP_SERVER_NAME: server.name, CLAUDE_CODE_MCP_SERVER_URL: server.url };
  const all = Object.entries({ ...env, ...own }).filter((pair): pair is [string, string] => pair[1] !== undefined);
  try {
    return new ProcessGroup({
      command: server.headersHelper,
      args: [],
      isShellLine: true,
      cwd,
      env: Object.fromEntries(all),
      ...(warn ? { warn } : {}),
    });
  } catch (error) {
    // The error names the line, which may contain a secret.
    if (existsSync(cwd)) throw failed(`could not be started (${systemCodeOf((error as Error).cause) ?? "no shell"})`);
    throw failed(`cannot run: its folder ${cwd} does not exist`, 'Create the folder, or correct "cwd" in the config.');
  }
}

/** Undefined if there is too much. */
async function output(stream: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > maxHeadersOutputBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function drained(stream: ReadableStream<Uint8Array>): Promise<void> {
  try {
    for await (const _ of stream);
  } catch {
    // The program was ended.
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
