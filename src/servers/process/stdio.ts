/** MCP over a child's stdin and stdout: newline-delimited JSON of almost any length. Lines that are not JSON do no harm. */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { collectSoon } from "../../base/collect-soon.ts";
import { eventLoopTurn, hasTurnTime } from "../../base/event-loop.ts";
import { atMost } from "../../base/time-limit.ts";
import { megabytes } from "../../base/units.ts";
import { shownLine } from "../../base/visible-text.ts";
import { receive, receiveLarge } from "../decoding/receive.ts";
import { maxErrorLines, maxInlineBytes, maxMessageBytes } from "../limits.ts";
import { inputClosed, NotWritten, OutgoingLines } from "./outgoing-lines.ts";
import { PendingLine } from "./pending-line.ts";
import { ProcessGroup, type SpawnOptions } from "./process-group.ts";

/**
 * Larger messages cause a garbage collection: bytes, text, parts and copies for the sandbox take several times their size, and the
 * collector would wait.
 */
const collectedMessageBytes = 2_097_152;

/** Time to read on after the process has ended. */
const stdioDrainMs = 100;

/** Last characters of stderr, and first bytes of a line that is not a message, that are kept for an error message. */
const keptOutputBytes = 16_384;

/** Characters of one of these lines. */
const maxErrorLineChars = 300;

/** Lines on stdout that are not messages and are still reported. */
const maxReportedLines = 100;

const newline = 0x0a;
const brace = 0x7b;

export interface StdioOptions extends SpawnOptions {
  maxMessageBytes?: number;
  /** Removes secrets from output in error messages. */
  redact?: (text: string) => string;
  /** Called before the process starts. What it returns is called when the process has ended. */
  onStart?: () => () => void;
  /** Gets the process's stderr. */
  onStderr?: (chunk: Uint8Array) => void;
  /** Changes how the process is started. */
  prepare?: Preparation;
}

/** `begun` is called when the process has been started, or could not be, and `ended` when it has ended. */
export type Preparation = (start: SpawnOptions) => Promise<SpawnOptions & { begun: () => void; ended: () => void }>;

/**
 * In place of the SDK's transport, whose `maxBufferSize` would allow large messages too. That one copies the beginning of a message for each
 * chunk, and parses on the main thread. For an answer of 50 MB, it blocks the main thread for 1.2 s and takes 600 MB; this one 0.04 to 0.15 s
 * and 280 MB. For 20,000 small messages, both take 0.3 s. The SDK's also ends the process without its group, reads on while the main
 * thread is busy, and does not say whether a message was read.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Undefined before the start, and after the end: an ended process keeps 350 KB of buffers for as long as it is referred to. */
  #group: ProcessGroup | undefined;
  #pid: number | undefined;
  #errorTail = "";
  readonly #strayLines: string[] = [];
  #strays = 0;
  #hasSpoken = false;
  #ended = "";
  readonly #closed = Promise.withResolvers<void>();
  /** Undefined when `#group` is. */
  #outgoing: OutgoingLines | undefined;
  #wasStarted = false;
  #isClosed = false;
  readonly #incoming = new PendingLine();
  /** A message was too large: the rest of the output is dropped. */
  #isTooMuch = false;

  readonly #options: StdioOptions;
  constructor(options: StdioOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { onStart, prepare } = this.#options;
    let hasEnded = onStart?.();
    let hasBegun: (() => void) | undefined;
    try {
      let how: SpawnOptions = this.#options;
      // Without an await, the process exists as soon as this is called.
      if (prepare) {
        const { begun, ended, ...prepared } = await prepare(this.#options);
        hasBegun = begun;
        const before = hasEnded;
        hasEnded = () => {
          ended();
          before?.();
        };
        how = prepared;
        if (this.#isClosed) throw new Error("closed before the start");
      }
      this.#run(new ProcessGroup(how), hasEnded);
    } catch (error) {
      hasEnded?.();
      throw error;
    } finally {
      hasBegun?.();
    }
  }

  #run(group: ProcessGroup, hasEnded: (() => void) | undefined): void {
    this.#group = group;
    this.#outgoing = new OutgoingLines(group, this.#closed.promise);
    this.#wasStarted = true;
    this.#pid = group.pid;
    const broken = (error: Error) => this.onerror?.(error);
    const reading = group.read((chunk) => this.#take(group, chunk)).catch(broken);
    const draining = this.#keepErrorTail(group.stderr).catch(broken);
    void group.exited.then(async (how) => {
      hasEnded?.();
      this.#ended ||= how;
      // The last output explains most failures, but a surviving grandchild may hold the pipes open.
      await atMost(stdioDrainMs, Promise.all([reading, draining]));
      // A process may end without ending its last line.
      if (!this.#isTooMuch) await this.#receive(this.#incoming, new Uint8Array());
      this.#group = this.#outgoing = undefined;
      this.#closed.resolve();
      // A failed write is reported first.
      setImmediate(() => this.onclose?.());
    });
  }

  /** Throws NotWritten if the process has not read the message. */
  send(message: JSONRPCMessage): Promise<void> {
    if (this.#outgoing) return this.#outgoing.send(`${JSON.stringify(message)}\n`);
    return Promise.reject(this.#wasStarted ? new NotWritten(inputClosed) : new Error("not started"));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#group?.stop();
  }

  get pid(): number | undefined {
    return this.#pid;
  }

  /** How the process ended ("exited with code 1"), or why it is being ended. Empty while it runs. */
  get ended(): string {
    return this.#ended;
  }

  /** The last lines on stderr, for error messages; or on stdout, if nothing else was written there. */
  lastLines(): string[] {
    // Cut after redaction, because half a secret would not be recognised.
    const tail = this.#redact(this.#errorTail).slice(-keptOutputBytes);
    const written = tail.split("\n");
    // If the tail is full, its first line may be incomplete.
    if (tail.length === keptOutputBytes && written.length > 1) written.shift();
    const lines = written.map(tidy).filter((line) => line !== "" && !isAside(line));
    const stray = this.#hasSpoken ? [] : this.#strayLines.map(tidy).filter(Boolean);
    return (lines.length > 0 ? lines : stray).slice(-maxErrorLines);
  }

  /** Receives the lines of a chunk. A promise if a message is large, or if other events must be handled first. */
  #take(group: ProcessGroup, chunk: Uint8Array): Promise<void> | undefined {
    // The rest is read and dropped, or the server's last output would be about a broken pipe.
    if (this.#isTooMuch) return undefined;
    const line = this.#incoming;
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      // A chunk may have thousands of messages.
      if (!hasTurnTime()) return eventLoopTurn().then(() => this.#take(group, chunk.subarray(start)));
      const receiving = this.#receive(line, chunk.subarray(start, end));
      line.clear();
      start = end + 1;
      // Waiting for a large message keeps the order, and keeps the server from sending faster than messages are read.
      if (receiving) return receiving.then(() => this.#take(group, chunk.subarray(start)));
    }
    // A chunk in the middle of a line is used by no other line.
    if (start < chunk.length) line.add(chunk.subarray(start), start === 0);
    if (line.size > (this.#options.maxMessageBytes ?? maxMessageBytes)) this.#refuseLine(group);
    // A long line comes in many chunks.
    return hasTurnTime() ? undefined : eventLoopTurn();
  }

  #refuseLine(group: ProcessGroup): void {
    const maxBytes = this.#options.maxMessageBytes ?? maxMessageBytes;
    this.#ended = `sent more than ${megabytes(maxBytes)} in one message`;
    this.#isTooMuch = true;
    this.#incoming.clear();
    // Do not wait for the end of stdin: the server's output until then would take memory.
    group.signal("SIGTERM");
    void group.stop();
    collectSoon(maxBytes);
  }

  /** Receives a line whose last part has come. A promise only if the message is large. */
  #receive(line: PendingLine, part: Uint8Array): Promise<void> | undefined {
    // Most messages come in one chunk.
    if (line.size === 0 && part[0] === brace && part.length <= maxInlineBytes) {
      this.#received(part, part.length, receive(part) as JSONRPCMessage | undefined);
      return undefined;
    }
    line.add(part);
    const first = line.first();
    if (first === undefined) return undefined;
    const { size } = line;
    if (first === brace && size > maxInlineBytes) {
      const beginning = line.beginning(keptOutputBytes);
      return receiveLarge(line.take()).then((message) => this.#received(beginning, size, message));
    }
    const bytes = line.bytes();
    // A small message is decoded at once.
    const message = first === brace ? (receive(bytes) as JSONRPCMessage | undefined) : undefined;
    this.#received(bytes, size, message);
    return undefined;
  }

  /** `beginning` is shown if the line is not a message. */
  #received(beginning: Uint8Array, size: number, message: JSONRPCMessage | undefined): void {
    if (!message) {
      this.#stray(beginning);
      return;
    }
    this.#hasSpoken = true;
    this.onmessage?.(message);
    if (size > collectedMessageBytes) collectSoon(size);
  }

  /** Keeps a line that is not a message. Before the first message, it may explain why the server does not start. */
  #stray(line: Uint8Array): void {
    if (this.#hasSpoken && this.#strays >= maxReportedLines) return;
    const text = this.#redact(new TextDecoder().decode(line.subarray(0, keptOutputBytes))).slice(0, maxErrorLineChars);
    if (!this.#hasSpoken) this.#strayLines.push(text);
    if (this.#strayLines.length > maxErrorLines) this.#strayLines.shift();
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
      this.#errorTail = (this.#errorTail + decoder.decode(chunk, { stream: true })).slice(-2 * keptOutputBytes);
    }
  }
}

/** The line as a terminal shows it, cut if it is long. */
function tidy(line: string): string {
  const text = shownLine(line).replace(/\t+/g, " ").trimEnd();
  return text.length > maxErrorLineChars ? `${text.slice(0, maxErrorLineChars)}…` : text;
}

/** A line of a JavaScript stack trace, or news of npm about itself: such lines come last, and would hide the message. */
function isAside(line: string): boolean {
  return /^\s+at .*[:\d)>]$|^(?:Node\.js|Bun) v\d|^npm notice\b/.test(line);
}
