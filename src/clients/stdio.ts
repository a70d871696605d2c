/** MCP over a child's stdin and stdout: newline-delimited JSON of nearly any length, harmed by nothing that is not JSON. */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { collectSoon } from "../collect-soon.ts";
import { messageOf } from "../errors.ts";
import { shownLine } from "../visible-text.ts";
import { largeBytes, receive, receiveLarge } from "./decoding/receive.ts";
import { PendingLine } from "./pending-line.ts";
import { ProcessGroup, type SpawnOptions } from "./process-group.ts";
import { maxMessageBytes, megabytes } from "./size-limits.ts";

const newline = 0x0a;
const brace = 0x7b;
const keptErrorBytes = 16_384;

/** Last words: so many lines, of so many characters. */
const keptLines = 5;
const maxLineLength = 300;

/** Lines that are no messages: so many are told of. */
const maxReportedLines = 100;

/** How long what one server writes is read without a look at anything else. */
const turnMs = 10;

/**
 * Characters of a message that leaves much behind: its bytes, its text, the parts of it, and the copies on their way into the
 * sandbox are several times its size. The collector sees no reason to hurry; hence it is asked.
 */
const largeMessage = 2_097_152;

/** How long to read on after the process has ended. */
const drainGraceMs = 100;

/** How long to wait for the end of a process that takes no more messages. */
const endGraceMs = 1_000;

/** Characters that are written together. */
const writeSize = 65_536;

/** Bytes that a pipe takes all or none of, as POSIX has it (PIPE_BUF). */
const atomicBytes = process.platform === "linux" ? 4_096 : 512;

interface Outgoing {
  text: string;
  resolve: () => void;
  reject: (error: unknown) => void;
}

export interface StdioOptions extends SpawnOptions {
  maxMessageBytes?: number;
  /** For texts of the server that end up in errors. */
  redact?: (text: string) => string;
  /** Told what the server writes there, as it comes. */
  onStderr?: (chunk: Uint8Array) => void;
}

/** A message that the process has certainly not read. */
export class NotWritten extends Error {
  override readonly name = "NotWritten";
}

/** The SDK's own client drops a connection at 10 MiB and joins its buffer anew for each chunk; hence this one. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  #group: ProcessGroup | undefined;
  #errorTail = "";
  readonly #strayLines: string[] = [];
  #strays = 0;
  #hasSpoken = false;
  #ended = "";
  readonly #closed = Promise.withResolvers<void>();
  readonly #outgoing: Outgoing[] = [];
  #isWriting = false;
  /** A write has failed: the process reads nothing any more. */
  #isBroken = false;

  readonly #options: StdioOptions;
  constructor(options: StdioOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const group = new ProcessGroup(this.#options);
    this.#group = group;
    const broken = (error: Error) => this.onerror?.(error);
    const reading = this.#readMessages(group).catch(broken);
    const draining = this.#keepErrorTail(group.stderr).catch(broken);
    void group.exited.then(async (how) => {
      this.#ended ||= how;
      // What was printed last explains most failures, but a surviving grandchild may hold the pipes open.
      await atMost(drainGraceMs, Promise.all([reading, draining]));
      this.#closed.resolve();
      // Who could not write hears of that first.
      setImmediate(() => this.onclose?.());
    });
  }

  /** Throws NotWritten when the process has certainly not read it. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#group) throw new Error("not started");
    const { promise, ...settle } = Promise.withResolvers<void>();
    this.#outgoing.push({ text: `${JSON.stringify(message)}\n`, ...settle });
    if (this.#outgoing.length === 1 && !this.#isWriting) void this.#write(this.#group);
    try {
      await promise;
    } catch (error) {
      // Most likely the process is ending, and how it ended says more than a broken pipe.
      await atMost(endGraceMs, this.#closed.promise);
      throw error;
    }
  }

  /** Messages of one moment in one write, and one write after the other: what fails is only what was in it. */
  async #write({ stdin }: ProcessGroup): Promise<void> {
    this.#isWriting = true;
    // Who else sends in this moment gets in.
    await null;
    while (this.#outgoing.length > 0) {
      const isWritten = await writeTogether(stdin, taken(this.#outgoing), this.#isBroken);
      this.#isBroken ||= !isWritten;
    }
    this.#isWriting = false;
  }

  async close(): Promise<void> {
    await this.#group?.stop();
  }

  get pid(): number | undefined {
    return this.#group?.pid;
  }

  /** How the process ended ("exited with code 1"), or why it is being ended; empty while it runs. */
  get ended(): string {
    return this.#ended;
  }

  /** The last lines that the server wrote to stderr, for error messages; to stdout, where it wrote nothing else there. */
  lastLines(): string[] {
    // Cut afterwards: of a secret that is cut in two nothing would be known again.
    const tail = this.#redact(this.#errorTail).slice(-keptErrorBytes);
    const written = tail.split("\n");
    // Of the first line of a tail that is full only the end may be left.
    if (tail.length === keptErrorBytes && written.length > 1) written.shift();
    const lines = written.map(tidy).filter((line) => line !== "" && !isFrame(line));
    const stray = this.#hasSpoken ? [] : this.#strayLines.map(tidy).filter(Boolean);
    return (lines.length > 0 ? lines : stray).slice(-keptLines);
  }

  async #readMessages(group: ProcessGroup): Promise<void> {
    const maxBytes = this.#options.maxMessageBytes ?? maxMessageBytes;
    const line = new PendingLine();
    let isTooMuch = false;
    let turnStart = performance.now();
    for await (const chunk of group.stdout) {
      // What comes after too much is read and dropped, or the server's last words would be of a broken pipe.
      if (isTooMuch) continue;
      let start = 0;
      for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
        line.add(chunk.subarray(start, end));
        const receiving = this.#receive(line);
        // A large message is waited for, so that messages stay in order and the server cannot send faster than we read.
        if (receiving) await receiving;
        line.clear();
        start = end + 1;
      }
      if (start < chunk.length) line.add(chunk.subarray(start));
      if (line.size > maxBytes) {
        this.#ended = `sent more than ${megabytes(maxBytes)} in one message`;
        isTooMuch = true;
        line.clear();
        // It does not wait for the end of its stdin, and what it writes until then is memory as well.
        group.signal("SIGTERM");
        void group.stop();
        collectSoon();
      }
      // Who writes without a pause keeps nobody else waiting, not even for the end of their time.
      if (performance.now() - turnStart < turnMs) continue;
      await new Promise((resolve) => setImmediate(resolve));
      turnStart = performance.now();
    }
  }

  /** A promise only where the message is large. */
  #receive(line: PendingLine): Promise<void> | undefined {
    const first = line.first();
    if (first === undefined) return undefined;
    const { size } = line;
    if (first === brace && size > largeBytes) {
      const beginning = line.beginning(keptErrorBytes);
      return receiveLarge(line.take()).then((message) => this.#received(beginning, size, message));
    }
    const bytes = line.bytes();
    // A small message is decoded at once.
    const message = first === brace ? (receive(bytes) as JSONRPCMessage | undefined) : undefined;
    this.#received(bytes, size, message);
    return undefined;
  }

  /** `beginning` is as much of the line as is shown where it is no message. */
  #received(beginning: Uint8Array, size: number, message: JSONRPCMessage | undefined): void {
    if (!message) {
      this.#stray(beginning);
      return;
    }
    this.#hasSpoken = true;
    this.onmessage?.(message);
    if (size > largeMessage) collectSoon();
  }

  /** What is no message: before the first one it may be the last words of a server that does not start. */
  #stray(line: Uint8Array): void {
    if (this.#hasSpoken && this.#strays >= maxReportedLines) return;
    const text = this.#redact(new TextDecoder().decode(line.subarray(0, keptErrorBytes))).slice(0, maxLineLength);
    if (!this.#hasSpoken) this.#strayLines.push(text);
    if (this.#strayLines.length > keptLines) this.#strayLines.shift();
    if (++this.#strays <= maxReportedLines) this.onerror?.(new Error(`not a JSON-RPC message: ${text.slice(0, 200)}`));
    if (this.#strays === maxReportedLines) this.onerror?.(new Error("further lines like this are not logged"));
  }

  #redact(text: string): string {
    return this.#options.redact?.(text) ?? text;
  }

  async #keepErrorTail(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      this.#options.onStderr?.(chunk);
      this.#errorTail = (this.#errorTail + decoder.decode(chunk, { stream: true })).slice(-2 * keptErrorBytes);
    }
  }
}

/** A line as a terminal would show it in the end, without colours and overwritten text; of a long one the beginning. */
function tidy(line: string): string {
  const text = shownLine(line).replace(/\t+/g, " ").trimEnd();
  return text.length > maxLineLength ? `${text.slice(0, maxLineLength)}…` : text;
}

/** Where in its code it was: of a failure in JavaScript these lines come last, and would hide what it was. */
function isFrame(line: string): boolean {
  return /^\s+at .*[:\d)>]$|^(?:Node\.js|Bun) v\d/.test(line);
}

/** As many as make a write of a size that costs little, and one at least. */
function taken(outgoing: Outgoing[]): Outgoing[] {
  let length = 0;
  const end = outgoing.findIndex(({ text }, index) => {
    length += text.length;
    return index > 0 && length > writeSize;
  });
  return outgoing.splice(0, end === -1 ? outgoing.length : end);
}

/** False when it failed: then its end was not read, which the last message needs; and of a small one nothing. */
async function writeTogether(stdin: ProcessGroup["stdin"], messages: Outgoing[], isBroken: boolean): Promise<boolean> {
  const text = messages.map((message) => message.text).join("");
  let isClosed = isBroken;
  try {
    if (isBroken) throw new Error("its input is closed");
    // Bun says `true` instead of a number when the pipe is closed already.
    const count: unknown = await stdin.write(text);
    await stdin.flush();
    isClosed = typeof count !== "number";
    if (isClosed) throw new Error("its input is closed");
    for (const { resolve } of messages) resolve();
    return true;
  } catch (cause) {
    const isWhole = isClosed || Buffer.byteLength(text) <= atomicBytes;
    const last = messages.length - 1;
    messages.forEach(({ reject }, at) => {
      reject(isWhole || at === last ? new NotWritten(messageOf(cause), { cause }) : cause);
    });
    return false;
  }
}

/** Resolves with the promise, or when the time is over. */
async function atMost(ms: number, promise: Promise<unknown>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([promise, over]);
  clearTimeout(timer);
}
