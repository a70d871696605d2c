/**
 * The log files of the servers of one config. Each is opened when its server is started. Several processes append whole lines, each with one write, which needs no lock. Logging never
 * delays a call and never fails: lines that cannot be written are lost.
 */

import { closeSync, fstatSync, mkdirSync, openSync, renameSync, statSync, unlinkSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf, systemCodeOf } from "../../base/errors.ts";
import { namesIn } from "../../base/files.ts";
import { withLock } from "../../base/lock.ts";
import type { Log } from "../../base/log.ts";
import { atMost } from "../../base/time-limit.ts";
import { dayMs, megabyte } from "../../base/units.ts";
import { logLockWaitMs } from "../limits.ts";
import { type LogLine, writtenLine } from "./line.ts";
import { headerOf, isLogName, type LogOwner, lockName, logFile, olderSuffix } from "./place.ts";

/** Size of a log file, and of the renamed older one. */
const maxLogFileBytes = megabyte;

/** If a log file cannot be renamed, it may grow to this multiple of its size. */
const maxLogOvergrowth = 4;

/** Delay before log lines are written, so that lines of one moment are written together. */
const logWriteAfterMs = 50;

/** Logs of servers that were not started for this long are removed. */
const logKeptMs = 30 * dayMs;

/** Wait for writers of logs when this process ends. Much longer than a process's pipes are read after its end: a busy machine is late. */
const logLastWordsMs = 1_000;

interface LogFileOptions {
  folder: string;
  log: Log;
  maxBytes?: number | undefined;
}

export class LogFile {
  readonly path: string;
  readonly #header: string;
  readonly #log: Log;
  readonly #maxBytes: number;
  #unwritten: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #rotating: Promise<void> | undefined;
  #mayRotate = true;
  #isEnding = false;
  #isBroken = false;
  #hasToldWhy = false;

  constructor(owner: LogOwner, { folder, log, maxBytes = maxLogFileBytes }: LogFileOptions) {
    this.path = logFile(folder, owner);
    this.#header = headerOf(owner);
    this.#log = log;
    this.#maxBytes = maxBytes;
  }

  /** Writes the line a moment later, together with the lines that follow. */
  add(line: LogLine): void {
    this.#unwritten.push(writtenLine(line));
    if (this.#isEnding) this.write();
    else this.#timer ??= setTimeout(() => this.write(), logWriteAfterMs).unref();
  }

  /** Writes all pending lines. A file that would become too large is renamed first, which takes a moment, unless this is the last one. */
  write(isLastMoment = this.#isEnding): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#unwritten.length === 0 || (this.#rotating && !isLastMoment)) return;
    try {
      const file = this.#open();
      try {
        this.#append(file, this.#unwritten.join(""), this.#mayRotate && !isLastMoment);
      } finally {
        closeSync(file);
      }
    } catch (error) {
      this.#isBroken = true;
      this.#unwritten = [];
      this.#tell(`cannot be written: ${messageOf(error)}`);
    }
  }

  /** Writes the pending lines; later lines are written at once. Never rejects. */
  async end(): Promise<void> {
    this.write();
    await this.#rotating;
    this.#isEnding = true;
    this.write();
  }

  #open(): number {
    try {
      return openSync(this.path, "a", 0o600);
    } catch (error) {
      if (systemCodeOf(error) !== "ENOENT") throw error;
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
      return openSync(this.path, "a", 0o600);
    }
  }

  #append(file: number, text: string, mayRotate: boolean): void {
    const { size } = fstatSync(file);
    if (size > this.#header.length && size + text.length > this.#maxBytes) {
      if (mayRotate) {
        this.#rotating = this.#rotate(text.length);
        return;
      }
      if (size > maxLogOvergrowth * this.#maxBytes) throw new Error("it is full");
    }
    this.#unwritten = [];
    // A failed write may have left part of a line. Any process creates the file if it is missing; concurrent creation is
    // safe.
    const bytes = Buffer.from(`${size === 0 ? this.#header : this.#isBroken ? "\n" : ""}${text}`);
    this.#isBroken = writeSync(file, bytes) < bytes.length;
    if (size === 0) this.#forgetOld();
  }

  /** Several processes may try at once: only the first still finds the file too large. */
  async #rotate(more: number): Promise<void> {
    const rotate = () => {
      const size = statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
      if (size + more > this.#maxBytes) renameSync(this.path, this.path + olderSuffix);
    };
    try {
      await withLock(join(dirname(this.path), lockName), "the logs", rotate, logLockWaitMs);
    } catch (error) {
      this.#mayRotate = false;
      this.#tell(`cannot be rotated: ${messageOf(error)}`);
    }
    this.#rotating = undefined;
    this.write();
  }

  #forgetOld(): void {
    const folder = dirname(this.path);
    for (const name of namesIn(folder)) {
      const path = join(folder, name);
      if (!isLogName(name.replace(/\.1$/, ""))) continue;
      const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      if (changed < Date.now() - logKeptMs) unlinkSync(path);
    }
  }

  #tell(what: string): void {
    if (!this.#hasToldWhy) this.#log.debug(`The log ${this.path} ${what}`);
    this.#hasToldWhy = true;
  }
}

interface LogFilesOptions {
  folder: string;
  /** The config file; null for the demo. */
  config: string | null;
  log: Log;
}

/** Writers that may have pending lines when the process exits. */
const open = new Set<LogFiles>();
process.on("exit", () => {
  for (const files of open) files.writeLast();
});

export class LogFiles {
  readonly #options: LogFilesOptions;
  readonly #files = new Map<string, LogFile>();
  readonly #writers = new Set<Promise<void>>();

  constructor(options: LogFilesOptions) {
    this.#options = options;
  }

  of(server: string): LogFile {
    open.add(this);
    let file = this.#files.get(server);
    if (!file) {
      const { folder, config, log } = this.#options;
      file = new LogFile({ server, config }, { folder, log });
      this.#files.set(server, file);
    }
    return file;
  }

  /** Announces that more lines come until the promise resolves: the reason for the end of a process is known a little later than the end. */
  expect(ended: Promise<void>): void {
    this.#writers.add(ended);
    void ended.then(() => this.#writers.delete(ended));
  }

  /** Writes the pending lines synchronously, when the process exits. */
  writeLast(): void {
    for (const file of this.#files.values()) file.write(true);
  }

  /** Waits a short time for announced lines; later lines are written at once. Never rejects. */
  async end(): Promise<void> {
    if (this.#writers.size > 0) await atMost(logLastWordsMs, Promise.all(this.#writers));
    open.delete(this);
    await Promise.all([...this.#files.values()].map((file) => file.end()));
  }
}
