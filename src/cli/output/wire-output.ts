/** Shows the messages to and from servers on stderr, one line each, and writes them in full to a file. */

import { closeSync, openSync, writeSync } from "node:fs";
import { durationText } from "../../base/duration.ts";
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import { shownLine } from "../../base/visible-text.ts";
import { abridgedJson } from "../../serve/content/abridged-json.ts";
import { MessageTrace, type TraceEntry } from "../../servers/connection/trace.ts";
import type { Io } from "../io.ts";
import { cyan, dim, red, warningLabel } from "../terminal/terminal-output.ts";

/** Characters of a message to or from a server on stderr. */
const maxWireChars = 1_000;

export class WireOutput implements AsyncDisposable {
  readonly trace: MessageTrace;
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
    this.trace = new MessageTrace((entry) => {
      if (this.#isShown) this.#show(lineOf(entry));
      this.#write(entry, startedAt);
    });
  }

  /** Writes one line after the other, since stderr may be slow. */
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
      this.#show(`${warningLabel} the wire file is no longer written: ${messageOf(error)}\n`);
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
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot write the wire file: ${messageOf(cause)}`, { cause });
  }
}

/** `+   132 ms  shop → tools/call #2 (98 bytes) {"name":…}` */
function lineOf(entry: TraceEntry): string {
  const { at, server, direction, kind, method, id, ms, bytes, message } = entry;
  const isAnswer = kind === "result" || kind === "error";
  const number = id === undefined ? "" : ` #${id}`;
  const after = ms === undefined ? "" : ` after ${durationText(ms)}`;
  const what = `${isAnswer ? `${kind} of ` : ""}${method}${number}${after}`;
  const heading = `${server} ${direction === "sent" ? "→" : "←"} ${what}`;
  const time = `+${Math.round(at).toString().padStart(6)} ms`;
  const body = message[isAnswer ? kind : "params"];
  const rest = ` (${bytes} bytes)${body === undefined ? "" : ` ${shortJson(body)}`}`;
  const colour = kind === "error" ? red : cyan;
  return `${dim(time)}  ${colour(shownLine(heading))}${shownLine(rest)}\n`;
}

/** The JSON on one line, abridged, or only its keys if it is still too long. */
function shortJson(body: unknown): string {
  const keys = Object.entries(Object(body)).map(([key, value]) => `${JSON.stringify(key)}: ${kindOf(value)}`);
  const json = abridgedJson(body, maxWireChars) ?? `{${keys.join(", ").slice(0, maxWireChars)}}`;
  // JSON strings contain no line breaks, so this joins only the lines of the layout.
  return json.replace(/\n */g, " ");
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return `[… ${value.length} items]`;
  if (typeof value === "object" && value !== null) return `{… ${Object.keys(value).length} keys}`;
  return typeof value === "string" && value.length > 50 ? `"… ${value.length} characters"` : JSON.stringify(value);
}
