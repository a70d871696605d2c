/** Writes the events of one connection to the server's log, as complete lines, limited in number, and without secrets. */

import { messageOf } from "../../base/errors.ts";
import { oneLine, shownLine } from "../../base/visible-text.ts";
import type { ServerConfig } from "../../config/load.ts";
import type { Channel } from "../connection/channel.ts";
import { logText } from "../connection/notices.ts";
import { WatchedTransport } from "../connection/watched-transport.ts";
import type { Redact } from "../values/secrets.ts";
import { type LineKind, shortened } from "./line.ts";
import type { LogFile, LogFiles } from "./log-file.ts";

/** The key of the server's name and version in results of the newer era. The SDK has it as well, but takes long to load. */
const serverInfoKey = "io.modelcontextprotocol/serverInfo";

/** Longer lines of a server's output are cut here. */
const maxLoggedLineChars = 65_536;

/** So much is dropped at the end of a line that was cut, because a secret may be cut in two there. */
const maxSecretChars = 16_384;

/** Characters of a log message of the protocol in a server's log. */
const maxLogMessageChars = 1_000;

/** Characters that count for a log line besides its text. */
const logLineCostChars = 50;

/** Time after which dropped output of a server is reported. */
const droppedReportMs = 1_000;

/** Characters that a server may log at once. More are dropped. */
const logBurstChars = 262_144;

/** Characters that it may log in each second afterwards. */
const logCharsPerSecond = 32_768;

export class ServerLog {
  readonly #server: ServerConfig;
  readonly #files: LogFiles;
  readonly #file: LogFile;
  readonly #redact: Redact;
  readonly #budget = new LogBudget();
  readonly #decoder = new TextDecoder();
  readonly #over = Promise.withResolvers<void>();
  #isOver = false;
  #startedAt = performance.now();
  #isReady = false;
  /** Why claudikins is closing the connection. */
  #why: string | undefined;
  #process = process.pid;
  /** The beginning of an incomplete line. */
  #begun = "";
  /** The beginning of this line was dropped, so its rest is dropped too. */
  #isSkipping = false;
  #droppedBytes = 0;
  #droppedLines = 0;
  #telling: NodeJS.Timeout | undefined;

  constructor(server: ServerConfig, files: LogFiles, redact: Redact) {
    this.#server = server;
    this.#files = files;
    this.#file = files.of(server.name);
    this.#redact = redact;
  }

  /** The same channel, with its events logged from start to end. */
  over(channel: Channel): Channel {
    let initializeId: unknown;
    let discoverId: unknown;
    let greeting: Record<string, unknown> = {};
    const transport = new WatchedTransport(channel.transport, {
      started: (starting) => {
        this.#started(channel.pid());
        starting.catch((error) => this.failed(error));
      },
      sent: (message) => {
        if (this.#isReady || !("method" in message)) return;
        if ("id" in message && message.method === "initialize") initializeId = message.id;
        if ("id" in message && message.method === "server/discover") discoverId = message.id;
        // Logged when the client has accepted the answer.
        if (message.method === "notifications/initialized") this.#ready(greeting);
      },
      received: (message) => {
        if ("method" in message) this.#logMessage(message);
        else if (this.#isReady || !("result" in message)) return;
        else if (message.id === initializeId) greeting = message.result;
        else if (message.id === discoverId) this.#ready({ serverInfo: message.result._meta?.[serverInfoKey] });
      },
      failed: (error) => this.#said("error", oneLine(this.#redact(error.message), maxLogMessageChars)),
      // The reason of a failed start is known a moment later than the failure.
      closed: () => (this.#isReady ? this.#ended(channel.ended()) : setImmediate(() => this.#ended(channel.ended()))),
    });
    return { ...channel, transport, closing: (why) => this.#closing(why) };
  }

  /** The channel could not be opened. */
  failed(error: unknown): void {
    this.#end("failed", messageOf(error));
  }

  /** Adds stderr output. Dropped without being read if there is too much. */
  stderr(chunk: Uint8Array): void {
    if (this.#budget.isEmpty) {
      this.#isSkipping = true;
      this.#drop(this.#begun.length + chunk.length, 0);
      this.#begun = "";
      return;
    }
    this.#stderrText(this.#decoder.decode(chunk, { stream: true }));
  }

  #started(pid: number | undefined): void {
    this.#startedAt = performance.now();
    if (pid !== undefined) this.#process = pid;
    // If the program could not be started, only the failure is logged.
    else if (this.#server.url === undefined) return;
    const { url } = this.#server;
    const what =
      url === undefined
        ? "its process was started"
        : `a connection to ${URL.parse(url)?.host ?? "an invalid address"} was opened`;
    this.#write("start", `${what} by claudikins (process ${process.pid})`);
  }

  /** Logs the server's name and version. */
  #ready(greeting: Record<string, unknown>): void {
    this.#isReady = true;
    const { name, version } = Object(Object(greeting)["serverInfo"]);
    const says = [name, version].filter((each) => typeof each === "string").join(" ");
    const ms = Math.round(performance.now() - this.#startedAt);
    this.#write("ready", `after ${ms} ms${says === "" ? "" : `: ${says}`}`);
  }

  #logMessage({ method, params }: { method: string; params?: unknown }): void {
    if (method !== "notifications/message") return;
    const said: Record<string, unknown> = Object(params);
    const level = typeof said["level"] === "string" ? oneLine(said["level"], 20) : "no level";
    // Messages over the limit are not read.
    if (this.#budget.isEmpty) this.#drop(0, 1);
    else this.#said("log", `${level}${logText(said, this.#redact, maxLogMessageChars)}`);
  }

  #closing(why: string): void {
    this.#why = why;
    if (!this.#isOver) this.#files.expect(this.#over.promise);
  }

  #ended(how: string): void {
    const why = this.#why ?? (how || "the connection was closed");
    if (this.#isReady) this.#end("end", this.#why === undefined ? why : `by claudikins: ${why}`);
    else this.#end("failed", why);
  }

  /** Logs the end once, with the first reason. */
  #end(kind: "end" | "failed", how: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stderrText(this.#decoder.decode());
    this.#line(this.#begun);
    this.#begun = "";
    this.#tellDropped();
    this.#write(kind, how.split("\n")[0] ?? "");
    this.#over.resolve();
  }

  /** Logs a message of the protocol's log, or a violation of the protocol. */
  #said(kind: "log" | "error", text: string): void {
    if (this.#budget.take(text.length + logLineCostChars)) {
      this.#tellDropped();
      this.#write(kind, text);
    } else this.#drop(0, 1);
  }

  #stderrText(text: string): void {
    const lines = text.split("\n");
    const last = lines.pop() ?? "";
    for (const line of lines) {
      this.#begin(line);
      this.#line(this.#begun);
      this.#begun = "";
      this.#isSkipping = false;
    }
    this.#begin(last);
  }

  #begin(text: string): void {
    if (this.#isSkipping) this.#drop(text.length, 0);
    else if (this.#begun.length < maxLoggedLineChars) this.#begun += text.slice(0, maxLoggedLineChars);
  }

  #line(text: string): void {
    if (text === "" || text === "\r") return;
    if (!this.#budget.take(Math.min(text.length, maxLoggedLineChars) + logLineCostChars)) {
      this.#drop(text.length + 1, 0);
      return;
    }
    this.#tellDropped();
    this.#write("stderr", text);
  }

  #write(kind: LineKind, text: string): void {
    const isWhole = text.length < maxLoggedLineChars;
    // Colours are removed first, because they may be in the middle of a secret.
    const known = this.#redact(shownLine(isWhole ? text : text.slice(0, maxLoggedLineChars)));
    const shown = isWhole ? known : known.slice(0, -maxSecretChars);
    if (shown !== "") this.#file.add({ at: Date.now(), process: this.#process, kind, text: shortened(shown) });
  }

  #drop(bytes: number, lines: number): void {
    this.#droppedBytes += bytes;
    this.#droppedLines += lines;
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      if (this.#budget.isEmpty) this.#drop(0, 0);
      else this.#tellDropped();
    }, droppedReportMs).unref();
  }

  #tellDropped(): void {
    if (this.#droppedBytes + this.#droppedLines === 0) return;
    const kilobytes = Math.ceil(this.#droppedBytes / 1_000);
    const what = [
      ...(this.#droppedBytes > 0 ? [`${kilobytes.toLocaleString("en")} kB of stderr`] : []),
      ...(this.#droppedLines > 0 ? [`${this.#droppedLines.toLocaleString("en")} messages`] : []),
    ];
    this.#droppedBytes = 0;
    this.#droppedLines = 0;
    this.#write("dropped", `${what.join(" and ")} over the log limit`);
  }
}

/** After a flood, nothing is kept until this much is allowed again. */
const leastToResume = logCharsPerSecond;

/** Limits how much of a server's output is kept: much for a moment, little for long. */
class LogBudget {
  #rest = logBurstChars;
  #at = performance.now();
  #isEmpty = false;

  /** False if the limit is reached. */
  take(amount: number): boolean {
    if (this.isEmpty) return false;
    this.#rest -= amount;
    this.#isEmpty = this.#rest < 0;
    return true;
  }

  get isEmpty(): boolean {
    const now = performance.now();
    this.#rest = Math.min(logBurstChars, this.#rest + ((now - this.#at) / 1_000) * logCharsPerSecond);
    this.#at = now;
    if (this.#rest >= leastToResume) this.#isEmpty = false;
    return this.#isEmpty;
  }
}
