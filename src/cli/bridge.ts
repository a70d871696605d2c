/**
 * The module through which generated tool files make calls, as programs or as functions. A call goes over a socket to the
 * claudikins daemon of this user and config, which is started if needed. Runs in Bun, and in a Node.js that strips types.
 *
 * claudikins itself does not run this module: it is bundled and written into registries (registry/bridge-code.ts).
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { ClaudikinsError, type ErrorCode, messageOf } from "../base/errors.ts";
import { exactNumber } from "../base/exact-json.ts";
import { isObject } from "../base/json-object.ts";
import { Semaphore } from "../base/semaphore.ts";
import { visibleText } from "../base/visible-text.ts";
import { configFileName, programsOnPath, userDataFolder } from "../config/locations.ts";
import { startDaemon } from "../daemon/launch.ts";
import { daemonStartMs } from "../daemon/limits.ts";
import { type DaemonPaths, isNobody, notListening, placeOf, refuseForeign } from "../daemon/place.ts";
import { isLeaving } from "../daemon/protocol.ts";
import { addressOf } from "../daemon/transport/address.ts";
import { request } from "../daemon/transport/exchange.ts";
import { connectInNode } from "../daemon/transport/node-stream.ts";
import type { ArgumentWord } from "../programs/argument-words.ts";
import { childEnvironment } from "../servers/process/child-environment.ts";
import { originOf } from "../tools/origin.ts";
import { isMark, readGiven } from "./call/call-words.ts";

interface Tool {
  name: string;
  server: string;
  description: string;
  inputSchema: unknown;
}

/** A failed call. `code` identifies the error, `suggestion` is the next step. */
class ToolError extends Error {
  override readonly name = "ToolError";
  readonly code: string;
  readonly suggestion: string | undefined;

  constructor(message: string, code: string, suggestion?: string) {
    super(message);
    this.code = code;
    this.suggestion = suggestion;
  }
}

/** Our own errors as errors of calls. */
function toToolError(thrown: unknown): unknown {
  return thrown instanceof ClaudikinsError ? new ToolError(thrown.message, thrown.code, thrown.hint) : thrown;
}

/** Calls one tool. Resolves to the same value as in the sandbox. Rejects with a ToolError. */
export async function call(server: string, tool: string, args: unknown, given?: ArgumentWord[]): Promise<unknown> {
  const body = bodyOf(server, tool, args ?? {}, given);
  await turns.acquire(undefined);
  try {
    const { value, error, code = "UNEXPECTED", suggestion } = await answerTo(body);
    if (error === undefined) return value;
    throw new ToolError(error, code, suggestion);
  } catch (error) {
    throw toToolError(error);
  } finally {
    turns.release();
  }
}

/** Variables that Bun has read from `.env` files in the working directory, which may not be the user's. */
const fromEnvFiles = namesFromEnvFiles();

/** The environment without variables from `.env` files. */
function environment(): NodeJS.ProcessEnv {
  if (fromEnvFiles.size === 0) return process.env;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !fromEnvFiles.has(name)));
}

/** Bun does not tell which they are. It adds only variables that are not set. */
function namesFromEnvFiles(): Set<string> {
  if (!("bun" in process.versions) || process.execArgv.some((flag) => /^--(?:no-)?env-file/.test(flag)))
    return new Set();
  const modes = ["", ".development", ".production", ".test"];
  const files = modes.flatMap((mode) => [`.env${mode}`, `.env${mode}.local`]);
  const texts = files.map((file) => textOf(file) ?? "");
  const names = texts.flatMap((text) => [...text.matchAll(/([A-Za-z_][\w.-]*)\s*[=:]/g)].map(([, name]) => name ?? ""));
  // Without /proc, assume that these are set.
  const before = textOf("/proc/self/environ")
    ?.split("\0")
    .map((entry) => entry.split("=", 1)[0] ?? "");
  const isSet = new Set(before ?? ["HOME", "PATH", "USERPROFILE"]);
  return new Set(names.filter((name) => !isSet.has(name)));
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function bodyOf(server: string, tool: string, args: unknown, given: ArgumentWord[] | undefined): string {
  if (!isObject(args)) {
    throw new ToolError(`${server}.${tool} takes one object with named arguments`, "INVALID_ARGUMENTS");
  }
  try {
    const env = environment();
    const { door } = originOf(userDataFolder(env), registry);
    const caller = { door, session: env["CLAUDIKINS_SESSION"], env: childEnvironment(env, {}) };
    const body = { server, tool, args, given, via, ...caller };
    return JSON.stringify(body, (_, each) => (typeof each === "bigint" ? exactNumber(String(each)) : each));
  } catch (cause) {
    throw new ToolError(`${server}.${tool}: the arguments are not JSON: ${messageOf(cause)}`, "INVALID_ARGUMENTS");
  }
}

/** The mark of the text that led here, such as `via:skill` on the command line. */
let via: string | undefined;

/** Limits concurrent calls, because a socket accepts only some hundreds of connections at once. */
const turns = new Semaphore(100);

interface Answer {
  value?: unknown;
  /** The process that listens, if it was asked. */
  pid?: number;
  error?: string;
  code?: string;
  suggestion?: string;
}

async function answerTo(body: string): Promise<Answer> {
  const deadline = Date.now() + daemonStartMs;
  for (let isFirst = true; ; isFirst = false) {
    const daemon = wantedDaemon();
    // A daemon that we have started is not outdated.
    const answer = await ask(daemon.place, "POST /call", body, isFirst ? daemon.version : undefined);
    if (answer && !isLeaving(answer.code)) return answer;
    if (Date.now() > deadline) throw notListening(daemon.place);
    await start(daemon, answer?.code === "OUTDATED");
  }
}

/** Sends one request; undefined if no daemon listens. */
async function ask(
  { socket }: DaemonPaths,
  route: string,
  body: string,
  version?: string,
): Promise<Answer | undefined> {
  refuseSockets(socket);
  try {
    const answer = await request(await connectInNode(addressOf(socket)), route, { body, version });
    if (isObject(answer)) return answer;
  } catch (error) {
    if (isNobody(error)) return undefined;
  }
  const hint = "Check whether the call took effect before retrying.";
  const message = "claudikins ended during the call, so the outcome of the call is unknown";
  throw new ClaudikinsError("SERVER_UNAVAILABLE", message, { hint });
}

/** Others could answer instead of the daemon. */
function refuseSockets(socket: string): void {
  try {
    refuseForeign(dirname(socket));
    refuseForeign(socket);
  } catch (error) {
    const { message, hint } = error as ClaudikinsError;
    throw new ClaudikinsError("SERVER_UNAVAILABLE", `${message}, so it is not used`, { hint });
  }
}

interface WantedDaemon {
  place: DaemonPaths;
  /** Undefined for the demo. */
  config: string | undefined;
  /** The command of the claudikins that wrote the registry, and its version. */
  command: string[] | undefined;
  version: string | undefined;
}

const registry = dirname(dirname(fileURLToPath(import.meta.url)));

function wantedDaemon(): WantedDaemon {
  const env = environment();
  const noted = originOf(userDataFolder(env), registry);
  const config = noted.config === null ? undefined : findConfig(noted.config);
  const command = noted.command && existsSync(noted.command[0] ?? "") ? noted.command : undefined;
  // A version is requested only if the command that starts it is known.
  const version = command && env["CLAUDIKINS_EXECUTABLE"] === undefined ? noted.version : undefined;
  return { place: placeOf(config, env), config, command, version };
}

function findConfig(recorded: string | undefined): string {
  if (recorded !== undefined && existsSync(recorded)) return realpathSync(recorded);
  for (let folder = registry; folder !== dirname(folder); ) {
    folder = dirname(folder);
    if (existsSync(join(folder, configFileName))) return realpathSync(join(folder, configFileName));
  }
  throw new ClaudikinsError("CONFIG_NOT_FOUND", `There is no ${configFileName} for the registry ${registry}`, {
    hint: "Run claudikins gen in the config's folder.",
  });
}

let starting: Promise<void> | undefined;

/** Starts the daemon, once for all concurrent calls. */
function start({ place, config, command }: WantedDaemon, newer: boolean): Promise<void> {
  // A server gives its programs the first; claudikins sets the second to run these files, and would start as Bun.
  const { CLAUDIKINS_START: _, BUN_BE_BUN: __, ...env } = environment();
  const status = () => ask(place, "GET /status", "");
  const chosen = (newer ? command : undefined) ?? findCommand(command);
  starting ??= startDaemon({ place, config, env, command: chosen, status }).finally(() => {
    starting = undefined;
  });
  return starting;
}

function findCommand(recorded: string[] | undefined): string[] {
  const env = environment();
  const { CLAUDIKINS_EXECUTABLE: named } = env;
  if (named && isAbsolute(named)) return [named];
  if (named) {
    throw new ClaudikinsError("FILE_NOT_FOUND", `CLAUDIKINS_EXECUTABLE is a relative path: ${named}`, {
      hint: "Set it to the absolute path of claudikins: with a relative path, the current folder could supply another program.",
    });
  }
  // Windows cannot start a .cmd without a shell.
  const onPath = programsOnPath("claudikins", env).find((path) => !path.endsWith(".cmd"));
  if (onPath !== undefined) return [onPath];
  if (recorded) return recorded;
  const message = "claudikins is neither on the PATH nor where it was when it wrote these files";
  throw new ClaudikinsError("FILE_NOT_FOUND", message, {
    hint: "Install claudikins, or set CLAUDIKINS_EXECUTABLE to its path.",
  });
}

/** Calls the tool if the file of this `import.meta` is the program that was started. Otherwise does nothing. */
export function program(meta: ImportMeta, tool: Tool): void {
  if (!isStarted(meta)) return;
  // A closed pipe (`| head`) is not an error.
  process.stdout.on("error", () => {});
  void runProgram(meta, tool).catch((thrown: unknown) => {
    const { code = "UNEXPECTED", suggestion } = toToolError(thrown) as Partial<ToolError>;
    print(process.stderr, JSON.stringify({ error: messageOf(thrown), code, suggestion }));
    process.exitCode = new ClaudikinsError(code as ErrorCode, "").exitCode ?? 1;
  });
}

/** The path of this module in a registry, from a tool's file. */
const here = "../../_runtime/bridge-code.js";

/** Whether the file was started as a program. In a bundle, the bundle was started instead. */
function isStarted(meta: ImportMeta): boolean {
  const started = process.argv[1];
  if (started === undefined || new URL(here, meta.url).href !== import.meta.url) return false;
  try {
    return realpathSync(started) === realpathSync(fileURLToPath(meta.url));
  } catch {
    return false;
  }
}

async function runProgram(meta: ImportMeta, tool: Tool): Promise<void> {
  const words = process.argv.slice(2);
  via = words.find(isMark);
  if (words.includes("--help") || words.includes("-h")) {
    print(process.stdout, await helpText(meta, tool));
    return;
  }
  const stdin = { text: async () => (await import("node:stream/consumers")).text(process.stdin) };
  const given = await readGiven(words, undefined, { cwd: process.cwd(), stdin });
  const value = await call(tool.server, tool.name, {}, given);
  print(process.stdout, JSON.stringify(value ?? null, null, process.stdout.isTTY ? 2 : undefined));
}

/** Escapes control and invisible characters on a terminal. Other output is not changed. */
function print(stream: NodeJS.WriteStream, text: string): void {
  stream.write(`${stream.isTTY ? visibleText(text) : text}\n`);
}

async function helpText(meta: ImportMeta, { server, name, description, inputSchema }: Tool): Promise<string> {
  const { example } = (await import(meta.url)) as { example?: string };
  const runtime = "bun" in process.versions ? "bun" : "node";
  const parts = [
    `${server}.${name}${description === "" ? "" : `: ${description}`}`,
    `Usage: ${runtime} ${basename(fileURLToPath(meta.url))} '{"name": "value"}'\n       Give arguments one by one with name=value, name:=json or name=@file; - reads JSON from standard input.\n       The result is printed as JSON on stdout.`,
    ...(example === undefined ? [] : [`Example in code: ${example}`]),
    `Arguments (JSON Schema):\n${JSON.stringify(inputSchema, null, 2)}`,
  ];
  return parts.join("\n\n");
}
