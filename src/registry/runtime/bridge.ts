/**
 * The module through which generated tool files make calls. A call goes over a socket to the claudikins daemon of this user
 * and config, which is started if needed. Runs in Bun, and in a Node.js that strips types.
 *
 * claudikins itself does not run this module: it is written into registries, without its types.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
} from "node:fs";
import { createConnection } from "node:net";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

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

/** Calls one tool. Resolves to the same value as in the sandbox. Rejects with a ToolError. */
export async function call<Result>(server: string, tool: string, args: unknown): Promise<Result> {
  return resultOf<Result>(bodyOf(server, tool, args));
}

async function resultOf<Result>(body: string): Promise<Result> {
  const { value, error, code = "UNEXPECTED", suggestion } = await inTurn(() => answerTo(body));
  if (error !== undefined) throw new ToolError(error, code, suggestion);
  return value as Result;
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

function bodyOf(server: string, tool: string, args: unknown, given?: Given[]): string {
  const named = args ?? {};
  if (typeof named !== "object" || Array.isArray(named)) {
    throw new ToolError(`${server}.${tool} takes one object with named arguments`, "INVALID_ARGUMENTS");
  }
  try {
    return JSON.stringify({ server, tool, args: named, given, via, session: environment()["CLAUDIKINS_SESSION"] });
  } catch (cause) {
    throw new ToolError(`${server}.${tool}: the arguments are not JSON: ${messageOf(cause)}`, "INVALID_ARGUMENTS");
  }
}

/** The mark of the text that led here, such as `via:skill` on the command line. */
let via: string | undefined;

/** Limits concurrent calls, because a socket accepts only some hundreds of connections at once. */
let freeTurns = 100;
const waiting: (() => void)[] = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (freeTurns > 0) freeTurns -= 1;
  else await new Promise<void>((turn) => waiting.push(turn));
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else freeTurns += 1;
  }
}

interface Answer {
  value?: unknown;
  /** The process that listens, if it was asked. */
  pid?: number;
  error?: string;
  code?: string;
  suggestion?: string;
}

/** Time limit for a daemon to start listening. */
const startMs = 30_000;

/** Errors of a daemon that is being replaced. The call was not made. */
const left = ["LEAVING", "OUTDATED"];

async function answerTo(body: string): Promise<Answer> {
  const deadline = Date.now() + startMs;
  for (let isFirst = true; ; isFirst = false) {
    const place = findPlace();
    // A daemon that we have started is not outdated.
    const answer = await ask(place, "POST /call", body, isFirst ? place.version : undefined);
    if (answer && !left.includes(answer.code ?? "")) return answer;
    if (Date.now() > deadline) throw notListening(place);
    await start(place, answer?.code === "OUTDATED");
  }
}

/**
 * Sends one request; undefined if nobody listens. The HTTP is written by hand, because loading Node's client takes longer than
 * the call. Each call has its own connection, because a kept one may be closed just as it is used.
 */
function ask(place: Place, route: string, body: string, version?: string): Promise<Answer | undefined> {
  const { promise, resolve: settle, reject } = Promise.withResolvers<Answer | undefined>();
  refuseForeign(place.socket);
  const connection = createConnection(place.socket);
  const answer = new AnswerReader();
  const lost = () =>
    reject(
      new ToolError(
        "claudikins ended during the call, so the outcome of the call is unknown",
        "SERVER_UNAVAILABLE",
        "Check whether the call took effect before retrying.",
      ),
    );
  connection.on("connect", () => connection.write(requestOf(route, body, version)));
  connection.on("error", (error: NodeJS.ErrnoException) => {
    if (isNobody(error)) settle(undefined);
    else lost();
  });
  connection.on("data", (chunk: Buffer) => {
    if (!answer.add(chunk)) return;
    connection.destroy();
    try {
      settle(JSON.parse(answer.body()));
    } catch {
      lost();
    }
  });
  connection.on("close", lost);
  return promise;
}

function requestOf(route: string, body: string, version: string | undefined): string {
  const lines = [
    `${route} HTTP/1.1`,
    "host: localhost",
    "connection: close",
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    ...(version === undefined ? [] : [`claudikins-version: ${version}`]),
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

/** Reads an answer with a content-length that arrives in chunks. */
class AnswerReader {
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #bodyAt: number | undefined;
  #end = Number.NaN;

  /** True when the answer is complete. */
  add(chunk: Buffer): boolean {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#bodyAt === undefined) this.#readHead();
    return this.#size >= this.#end;
  }

  body(): string {
    return Buffer.concat(this.#chunks).toString("utf8", this.#bodyAt, this.#end);
  }

  #readHead(): void {
    const text = Buffer.concat(this.#chunks).toString("latin1");
    const end = text.indexOf("\r\n\r\n");
    if (end === -1) return;
    this.#bodyAt = end + 4;
    this.#end = this.#bodyAt + Number(/^content-length: *(\d+)/im.exec(text.slice(0, end))?.[1]);
  }
}

/** Whether the socket does not exist or its process is gone. */
function isNobody(error: NodeJS.ErrnoException): boolean {
  return (
    ["ENOENT", "ECONNREFUSED"].includes(error.code ?? "") || (error.code === "EAGAIN" && error.syscall === "connect")
  );
}

interface Place {
  socket: string;
  /** The file with the daemon's stderr. */
  log: string;
  /** Undefined for the demo. */
  config: string | undefined;
  /** The command of the claudikins that wrote the registry, and its version. */
  command: string[] | undefined;
  version: string | undefined;
}

const registry = dirname(dirname(fileURLToPath(import.meta.url)));

function findPlace(): Place {
  const local = noted();
  const config = local.config === null ? undefined : findConfig(local.config);
  const name = keyOf(config);
  const folder = runFolder();
  const socket = process.platform === "win32" ? `\\\\.\\pipe\\claudikins-${name}` : join(folder, `${name}.sock`);
  const command = local.command && existsSync(local.command[0] ?? "") ? local.command : undefined;
  // A version is requested only if the command that starts it is known.
  const version = command && environment()["CLAUDIKINS_EXECUTABLE"] === undefined ? local.version : undefined;
  return { socket, log: join(folder, `${name}.log`), config, command, version };
}

/** The record of a registry on this machine. */
interface Note {
  /** Null for the demo. */
  config?: string | null;
  command?: string[];
  version?: string;
}

/** The record. For a registry that was copied or moved, only the command. */
function noted(): Note {
  const folder = dataFolder();
  return (
    readNote(join(folder, "registries", `${hashOf(registry)}.json`)) ?? readNote(join(folder, "executable.json")) ?? {}
  );
}

function readNote(file: string): Note | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function dataFolder(): string {
  const { XDG_DATA_HOME: data, HOME, USERPROFILE } = environment();
  const home = [HOME, USERPROFILE].find((path) => path && isAbsolute(path)) ?? "/";
  return join(data && isAbsolute(data) ? data : join(home, ".local", "share"), "claudikins");
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function findConfig(recorded: string | undefined): string {
  const name = "claudikins.json";
  if (recorded !== undefined && existsSync(recorded)) return realpathSync(recorded);
  for (let folder = registry; folder !== dirname(folder); ) {
    folder = dirname(folder);
    if (existsSync(join(folder, name))) return realpathSync(join(folder, name));
  }
  throw new ToolError(
    `There is no ${name} for the registry ${registry}`,
    "CONFIG_NOT_FOUND",
    "Run claudikins gen in the config's folder.",
  );
}

/** The daemon's key: there is one for each config and the values of its variables. */
function keyOf(config: string | undefined): string {
  const text = config === undefined ? "" : readFileSync(config, "utf8");
  const names = [...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)/g)].map(([, name]) => name ?? "");
  const env = environment();
  const values = [...new Set([...names, "HOME", "USERPROFILE", "XDG_DATA_HOME"])]
    .sort()
    .map((name) => [name, env[name] ?? null]);
  return hashOf(JSON.stringify([config ?? null, values]));
}

/** Some systems refuse longer socket paths. */
const maxFolderLength = 70;

function runFolder(): string {
  const runtime = environment()["XDG_RUNTIME_DIR"];
  const folder = runtime && isAbsolute(runtime) && isOurs(runtime) ? runtime : undefined;
  const chosen = folder === undefined ? join(dataFolder(), "run") : join(folder, "claudikins");
  if (process.platform === "win32" || Buffer.byteLength(chosen) <= maxFolderLength) return chosen;
  return `/tmp/claudikins-${process.getuid?.()}`;
}

function isOurs(path: string): boolean {
  try {
    const found = statSync(path);
    return found.isDirectory() && (process.platform === "win32" || found.uid === process.getuid?.());
  } catch {
    return false;
  }
}

/** Throws if others can write to the folder, because they could answer instead of the daemon. */
function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.platform === "win32") return;
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.()) throw foreign(folder);
  if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

function refuseForeign(socket: string): void {
  if (process.platform === "win32") return;
  for (const path of [dirname(socket), socket]) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found && (found.isSymbolicLink() || found.uid !== process.getuid?.())) throw foreign(path);
  }
}

function foreign(path: string): ToolError {
  return new ToolError(
    `${path} does not belong to you, so it is not used`,
    "SERVER_UNAVAILABLE",
    "Remove it, or set XDG_RUNTIME_DIR to a folder of your own.",
  );
}

const starts = new Map<string, Promise<void>>();

/** Starts the daemon, once for all concurrent calls. */
function start(place: Place, newer: boolean): Promise<void> {
  const running = starts.get(place.socket) ?? startOnce(place, newer).finally(() => starts.delete(place.socket));
  starts.set(place.socket, running);
  return running;
}

async function startOnce(place: Place, newer: boolean): Promise<void> {
  makePrivate(dirname(place.log));
  const command = (newer ? place.command : undefined) ?? findCommand(place);
  const deadline = Date.now() + startMs;
  while (Date.now() < deadline) {
    const daemon = launch(command, place);
    // If another process was faster, our daemon ends at once, and the other one listens soon.
    const patience = () => (daemon.ended() ? 500 : startMs);
    for (const begun = Date.now(); Date.now() - begun < patience() && Date.now() < deadline; ) {
      const status = await ask(place, "GET /status", "").catch(() => undefined);
      if (status) {
        // Another process was faster, so our daemon is not needed.
        if (status.pid !== daemon.pid) daemon.end();
        return;
      }
      const failure = daemon.failure();
      if (failure) throw failure;
      await new Promise((done) => setTimeout(done, 10));
    }
    // On a busy machine, it may have ended after the time limit.
    const failure = daemon.failure();
    if (failure) throw failure;
  }
  throw notListening(place);
}

interface Launched {
  pid: number | undefined;
  end(): void;
  ended(): boolean;
  /** The error with which it ended, if it failed. */
  failure(): ToolError | undefined;
}

/** Starts the daemon detached, so that it outlives this process. */
function launch(command: string[], place: Place): Launched {
  const [file = "", ...args] = command;
  const log = openSync(place.log, "a", 0o600);
  const from = fstatSync(log).size;
  // With BUN_BE_BUN, which claudikins sets to run these files, it would start as Bun.
  const { CLAUDIKINS_START: _, BUN_BE_BUN: __, ...env } = environment();
  let failure: ToolError | undefined;
  let ended = false;
  const config = place.config === undefined ? ["--demo"] : ["--config", place.config];
  try {
    const child = spawn(file, [...args, "daemon", "run", ...config, "--socket", place.socket, "--json"], {
      cwd: dirname(place.config ?? registry),
      env,
      detached: true,
      windowsHide: true,
      stdio: ["ignore", "ignore", log],
    });
    child.on("error", (error) => {
      failure = cannotStart(file, messageOf(error));
    });
    child.on("exit", (code, signal) => {
      ended = true;
      if (code !== 0)
        failure = lastWords(place.log, from) ?? cannotStart(file, `it ended with ${signal ?? `code ${code}`}`);
    });
    child.unref();
    return { pid: child.pid, end: () => void child.kill(), ended: () => ended, failure: () => failure };
  } finally {
    closeSync(log);
  }
}

/** The error in the log: a line of JSON from claudikins, or else the new text. */
function lastWords(log: string, from: number): ToolError | undefined {
  const lines = readFileSync(log).subarray(from).toString("utf8").trim().split("\n");
  for (const line of lines.toReversed()) {
    try {
      const { error } = JSON.parse(line) as { error: { message: string; code: string; hint?: string } };
      return new ToolError(error.message, error.code, error.hint);
    } catch {
      // Not JSON, such as the lines of a crash.
    }
  }
  const text = lines.slice(-5).join("\n");
  return text === "" ? undefined : new ToolError(`claudikins did not start: ${text}`, "UNEXPECTED");
}

function findCommand({ command }: Place): string[] {
  const { CLAUDIKINS_EXECUTABLE: named, PATH = "" } = environment();
  if (named && isAbsolute(named)) return [named];
  if (named) {
    throw new ToolError(
      `CLAUDIKINS_EXECUTABLE is a relative path: ${named}`,
      "FILE_NOT_FOUND",
      "Set it to the absolute path of claudikins: with a relative path, the current folder could supply another program.",
    );
  }
  const name = process.platform === "win32" ? "claudikins.exe" : "claudikins";
  const onPath = PATH.split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find(isProgram);
  if (onPath !== undefined) return [onPath];
  if (command) return command;
  throw new ToolError(
    "claudikins is neither on the PATH nor where it was when it wrote these files",
    "FILE_NOT_FOUND",
    "Install claudikins, or set CLAUDIKINS_EXECUTABLE to its path.",
  );
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function cannotStart(file: string, why: string): ToolError {
  const hint = "See its output: claudikins daemon run";
  return new ToolError(`${file} did not start: ${why}`, "UNEXPECTED", hint);
}

function notListening({ log }: Place): ToolError {
  return new ToolError(
    `claudikins started but did not answer within ${startMs / 1_000} s`,
    "SERVER_UNAVAILABLE",
    `Read its log: ${log}`,
  );
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Calls the tool if the file of this `import.meta` is the program that was started. Otherwise does nothing. */
export function program<Args>(meta: ImportMeta, tool: Tool, run: (args: Args) => Promise<unknown>): void {
  if (!isStarted(meta)) return;
  // A closed pipe (`| head`) is not an error.
  process.stdout.on("error", () => {});
  void runProgram(meta, tool, run as (args: unknown) => Promise<unknown>).catch((error: unknown) => {
    const { code = "UNEXPECTED", suggestion } = error as Partial<ToolError>;
    print(process.stderr, JSON.stringify({ error: messageOf(error), code, suggestion }));
    process.exitCode = exitCodes[code] ?? 1;
  });
}

/** The exit codes of `claudikins exec`. Others are 1. */
const exitCodes: Record<string, number> = {
  USAGE: 2,
  CONFIG_NOT_FOUND: 2,
  CONFIG_INVALID: 2,
  CONFIG_NOT_TRUSTED: 2,
  FILE_NOT_FOUND: 2,
  FILE_NOT_WRITABLE: 2,
  REGISTRY_INVALID: 2,
  SERVER_NOT_FOUND: 2,
  TOOL_NOT_FOUND: 2,
  INVALID_ARGUMENTS: 2,
  NEEDS_VARIABLE: 2,
  POLICY_DENIED: 2,
  AUTH_REQUIRED: 3,
  SERVER_UNAVAILABLE: 4,
  CALL_TIMEOUT: 4,
  PROTOCOL_ERROR: 4,
  TOOL_FAILED: 5,
  CANCELLED: 130,
};

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

async function runProgram(meta: ImportMeta, tool: Tool, run: (args: unknown) => Promise<unknown>): Promise<void> {
  const given = process.argv.slice(2);
  via = given.find(isMark);
  const words = given.filter((word) => !isMark(word));
  if (words.includes("--help") || words.includes("-h")) {
    print(process.stdout, await helpText(meta, tool));
    return;
  }
  const { server, name } = tool;
  const value = words.some(isNamed)
    ? await resultOf(bodyOf(server, name, undefined, await givenBy(words, meta)))
    : await run(await argumentsOf(words, meta));
  print(process.stdout, JSON.stringify(value ?? null, null, process.stdout.isTTY ? 2 : undefined));
}

/** Escapes control and invisible characters on a terminal. Other output is not changed. */
function print(stream: NodeJS.WriteStream, text: string): void {
  const unseen = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
  const escaped = (found: string) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join(
      "",
    );
  stream.write(`${stream.isTTY ? text.replace(unseen, escaped) : text}\n`);
}

function isMark(word: string): boolean {
  return /^via:[a-z-]{1,40}$/.test(word);
}

/** An argument of the command line. claudikins converts it by the tool's schema, as `claudikins call` does. */
type Given = { word: string } & ({ key: string; text: string } | { key: string; json: unknown } | { object: object });

/** `name=text`, `name:=json`, `name=@file`. */
const namedForm = /^(?![{[@])(.+?)(:?=)(.*)$/s;

function isNamed(word: string): boolean {
  return namedForm.test(word);
}

async function givenBy(words: string[], meta: ImportMeta): Promise<Given[]> {
  const given: Given[] = [];
  for (const word of words) {
    const [, key = "", sign, value = ""] = namedForm.exec(word) ?? [];
    if (sign === undefined) {
      given.push({ word, object: await argumentsOf([word], meta) });
      continue;
    }
    const text = value.startsWith("@") ? fileText(value.slice(1), word, meta) : value;
    given.push(sign === "=" ? { word, key, text } : { word, key, json: parsed(text, word, meta) });
  }
  return given;
}

function fileText(file: string, word: string, meta: ImportMeta): string {
  const text = textOf(file);
  if (text !== undefined) return text;
  throw new ToolError(`Cannot read the file named in ${word}`, "FILE_NOT_FOUND", hintOf(meta));
}

function parsed(text: string, what: string, meta: ImportMeta): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ToolError(`${what} is not JSON: ${messageOf(error)}`, "USAGE", hintOf(meta));
  }
}

function hintOf(meta: ImportMeta): string {
  return `${usageOf(meta)}, or --help`;
}

async function argumentsOf(words: string[], meta: ImportMeta): Promise<object> {
  const [word, second] = words;
  if (second !== undefined) {
    const message = "Give the arguments as one JSON object, or one by one as name=value";
    throw new ToolError(message, "USAGE", hintOf(meta));
  }
  if (word === undefined) return {};
  const text = word === "-" ? await standardInput() : word;
  const from = word === "-" ? "Standard input" : "The argument";
  const args = parsed(text, from, meta);
  if (args !== null && typeof args === "object" && !Array.isArray(args)) return args;
  throw new ToolError(`${from} must be a JSON object with the tool's arguments by name`, "USAGE", hintOf(meta));
}

async function standardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}

function usageOf(meta: ImportMeta): string {
  const runtime = "bun" in process.versions ? "bun" : "node";
  return `${runtime} ${basename(fileURLToPath(meta.url))} '{"name": "value"}'`;
}

async function helpText(meta: ImportMeta, { server, name, description, inputSchema }: Tool): Promise<string> {
  const { example } = (await import(meta.url)) as { example?: string };
  const parts = [
    `${server}.${name}${description === "" ? "" : `: ${description}`}`,
    `Usage: ${usageOf(meta)}\n       Give arguments one by one with name=value, name:=json or name=@file; - reads JSON from standard input.\n       The result is printed as JSON on stdout.`,
    ...(example === undefined ? [] : [`Example in code: ${example}`]),
    `Arguments (JSON Schema):\n${JSON.stringify(inputSchema, null, 2)}`,
  ];
  return parts.join("\n\n");
}
