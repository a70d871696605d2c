/** Where a trace goes: a line for each message on stderr, and a file with all of it. */
import { closeSync, openSync, writeSync } from "node:fs";
import { Trace, type TraceEntry } from "../clients/trace.ts";
import { ClaudikinsError, messageOf } from "../errors.ts";
import { harmless } from "../logs/line.ts";
import { abridgedJson } from "../server/content/abridge.ts";
import { cyan, dim, hasColours, paint, red } from "./colours.ts";
import type { Io } from "./io.ts";

/** Characters of a message on one line. */
const shownChars = 1_000;

export class OpenTrace implements AsyncDisposable {
  readonly trace: Trace;
  readonly #io: Io;
  readonly #isShown: boolean;
  #file: number | undefined;
  #written: Promise<void> = Promise.resolve();

  /** Throws FILE_NOT_WRITABLE. */
  constructor({ isShown, file }: { isShown: boolean; file: string | undefined }, io: Io) {
    this.#io = io;
    this.#isShown = isShown;
    if (file !== undefined) this.#file = opened(file);
    const startedAt = Date.now();
    this.trace = new Trace((entry) => {
      if (this.#isShown) this.#show(lineOf(entry, hasColours(io.stderr, io)));
      this.#write(entry, startedAt);
    });
  }

  /** One after the other: stderr may take them slowly. */
  #show(line: string): void {
    this.#written = this.#written.then(() => this.#io.stderr.write(line)).catch(() => {});
  }

  #write(entry: TraceEntry, startedAt: number): void {
    if (this.#file === undefined) return;
    const at = Math.round(entry.at * 1_000) / 1_000;
    const ms = entry.ms === undefined ? undefined : Math.round(entry.ms * 1_000) / 1_000;
    const { message, ...about } = entry;
    const line = { time: new Date(startedAt + at).toISOString(), ...about, at, ms, message };
    try {
      writeSync(this.#file, `${JSON.stringify(line)}\n`);
    } catch (error) {
      this.#end();
      this.#show(`warning: the trace file is no longer written: ${messageOf(error)}\n`);
    }
  }

  #end(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.trace.flush();
    await this.#written;
    this.#end();
  }
}

function opened(file: string): number {
  try {
    return openSync(file, "w", 0o600);
  } catch (cause) {
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot write the trace: ${messageOf(cause)}`, { cause });
  }
}

/** `+   132 ms  shop → tools/call #2 (98 bytes) {"name":…}` */
function lineOf(entry: TraceEntry, colours: boolean): string {
  const { at, server, direction, kind, method, id, ms, bytes, message } = entry;
  const isAnswer = kind === "result" || kind === "error";
  const number = id === undefined ? "" : ` #${id}`;
  const after = ms === undefined ? "" : ` after ${Math.round(ms)} ms`;
  const what = `${isAnswer ? `${kind} of ` : ""}${method}${number}${after}`;
  const heading = `${server} ${direction === "sent" ? "→" : "←"} ${what}`;
  const time = `+${Math.round(at).toString().padStart(6)} ms`;
  const body = message[isAnswer ? kind : "params"];
  const rest = ` (${bytes} bytes)${body === undefined ? "" : ` ${shortJson(body)}`}`;
  const parts = [paint(time, dim, colours), "  ", paint(harmless(heading), kind === "error" ? red : cyan, colours)];
  return `${parts.join("")}${harmless(rest)}\n`;
}

/** On one line: what it holds, as far as that is short enough, or else its keys. */
function shortJson(body: unknown): string {
  const keys = Object.entries(Object(body)).map(([key, value]) => `${JSON.stringify(key)}: ${kindOf(value)}`);
  const json = abridgedJson(body, shownChars) ?? `{${keys.join(", ").slice(0, shownChars)}}`;
  // Between its parts only: in texts a line's end is written as `\n`.
  return json.replace(/\n */g, " ");
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return `[… ${value.length} items]`;
  if (typeof value === "object" && value !== null) return `{… ${Object.keys(value).length} keys}`;
  return typeof value === "string" && value.length > 50 ? `"… ${value.length} characters"` : JSON.stringify(value);
}
