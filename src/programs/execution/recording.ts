/**
 * Records executions for `claudikins executions`: notes them while they run, and writes them after the answer. A failure here fails no
 * execution.
 */

import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { sha256 } from "../../base/sha256.ts";
import type { RecordMode } from "../../config/defaults.ts";
import type { Read } from "../../policy/flow/session-reads.ts";
import { textOf } from "../../sandbox/binding-value.ts";
import type { CallRequest, Outcome, OutcomeError } from "../../sandbox/contract.ts";
import type { Store } from "../../store/store.ts";
import { usedNames } from "../call-log/ended-calls.ts";
import { maxMaskedSecretChars, maxRecordedArgumentChars, maxRecordedResultChars } from "../limits.ts";
import type { Parts } from "../parts.ts";
import type { ToolCallEvent } from "../tool-call-events.ts";
import { commentIn } from "../trace/about.ts";
import { Excerpts } from "../trace/excerpts.ts";
import {
  agentText,
  type CalledTool,
  type ExecutionRecord,
  type HostIdentity,
  type RecordedCall,
  type RecordedError,
  type StartedBy,
  startedByOf,
  type Unattended,
} from "../trace/record.ts";
import { writeRecords } from "../trace/store.ts";

/** Delay before a record is written, so that the answer goes first. */
const recordAfterMs = 200;

/** Calls that are recorded. Further calls are only counted. */
const maxRecordedCalls = 10_000;

/** Characters of the program. */
const maxRecordedCodeChars = 500_000;

/** Different tools in the summary of a record. */
const maxSummedTools = 20;

/** Characters of the comment of a program, and of the name of an agent, in the summary of a record. */
const maxSummedTextChars = 200;

/** Characters of one log line, and of one message of a failure. */
const maxRecordedLogChars = 20_000;

/** Characters of the value that the program returns. */
const maxRecordedValueChars = 100_000;

export interface TraceRecorderOptions {
  mode: RecordMode;
  /** The config file; null for the demo. */
  config: string | null;
  log: Log;
}

export class TraceRecorder {
  readonly options: TraceRecorderOptions;
  /** The id of the execution that began last. */
  lastId: string | undefined;
  readonly #unwritten: { store: Store; record: () => Promise<ExecutionRecord> }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: TraceRecorderOptions) {
    this.options = options;
  }

  begin(recorded: RecordingOptions): TraceRecording {
    this.lastId = recorded.id;
    return new TraceRecording(recorded, this);
  }

  /** Makes and writes the record later, together with others. */
  keep(store: Store, record: () => Promise<ExecutionRecord>): void {
    this.#unwritten.push({ store, record });
    this.#timer ??= setTimeout(() => void this.end(), recordAfterMs).unref();
  }

  /** Writes the rest. Never rejects. */
  end(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const left = this.#unwritten.splice(0);
    this.#writing = this.#writing.then(async () => {
      for (const [store, all] of Map.groupBy(left, ({ store }) => store)) {
        const made = await Promise.all(all.map(({ record }) => record().catch(this.#failed)));
        await writeRecords(
          store,
          made.filter((each) => each !== undefined),
        ).catch(this.#failed);
      }
    });
    return this.#writing;
  }

  readonly #failed = (error: unknown): undefined => {
    this.options.log.debug(`Cannot record the execution: ${messageOf(error)}`);
  };
}

/** What a record is made from. */
type RecordedParts = Parts & {
  /** The working directory of servers that name none. */
  cwd: string;
};

export interface RecordingOptions {
  id: string;
  source: string;
  parts: RecordedParts;
  /** Whether an agent sent the code. Another process may continue it, and its record says the same. */
  isForAgent?: boolean | undefined;
  unattended?: Unattended | undefined;
  /** The agent, as it names itself. */
  host?: HostIdentity | undefined;
  /** The name of the saved program that it runs. */
  program?: string | undefined;
  /** The id of the execution whose code it runs again. */
  repeats?: string | undefined;
  /** The session of the agent, by a short name. */
  session?: string | undefined;
  isDryRun?: boolean | undefined;
  /** Recorded before the execution was saved. */
  timeline?: Timeline | undefined;
}

/** A call of the timeline: plain data, which is stored as it is. */
export interface Noted {
  call: Pick<CallRequest, "namespace" | "group" | "name" | "line"> & { args: string };
  /** The number of the call in its execution. Earlier builds have not stored it. */
  number?: number;
  startMs: number;
  argumentChars: number;
  endMs?: number;
  end?: NotedEnd;
  /** A dry run has not made the call. */
  isPlanned?: true;
  resultChars?: number;
}

/** How a call ended. `waitedMs` is the time in which a person was asked. */
type NotedEnd =
  | { outcome: "ok"; text: string; waitedMs?: number }
  | { outcome: "failed"; code: string | undefined; message: string; waitedMs?: number }
  | { outcome: "cancelled" };

/** What was recorded so far, without the calls: plain data. */
export interface TimelineHead {
  /** In milliseconds since 1970. */
  at: number;
  startedAt: number;
  made: number;
}

/** Everything that was recorded before the execution was saved. */
export interface Timeline extends TimelineHead {
  noted: Noted[];
}

/** Calls by their places. With `isWhole`, they replace all earlier changes. */
export interface CallChanges {
  isWhole: boolean;
  calls: [place: number, noted: Noted][];
}

export class TraceRecording {
  readonly id: string;
  /** In milliseconds since 1970. */
  readonly #at: number;
  readonly #begunAt: number;
  readonly #source: string;
  readonly #startedBy: StartedBy;
  readonly #parts: RecordedParts;
  readonly #recorder: TraceRecorder;
  readonly #host: HostIdentity | undefined;
  readonly #program: string | undefined;
  readonly #repeats: string | undefined;
  readonly #session: string | undefined;
  readonly #isDryRun: boolean;
  #startedAt: number;
  #noted: Noted[];
  /** The calls that have not ended, by their numbers. */
  readonly #open = new Map<number, { noted: Noted; place: number; all: readonly Noted[] }>();
  /** The places of calls that were noted or have ended since `changes` was last called. */
  readonly #changed = new Set<number>();
  /** Whether the places differ from what `changes` returned, perhaps in another process. */
  #isRenumbered = true;
  #made: number;

  constructor(options: RecordingOptions, recorder: TraceRecorder) {
    const { id, source, parts, host, program, repeats, session, isDryRun = false, timeline } = options;
    this.id = id;
    this.#program = program;
    this.#repeats = repeats;
    this.#session = session;
    this.#isDryRun = isDryRun;
    this.#source = source;
    this.#startedBy = startedByOf(options);
    this.#parts = parts;
    this.#recorder = recorder;
    this.#host = host;
    this.#at = timeline?.at ?? Date.now();
    this.#begunAt = ago(this.#at);
    this.#startedAt = timeline ? ago(timeline.startedAt) : this.#begunAt;
    // Calls without an end are made again, and noted again.
    this.#noted = timeline?.noted.filter(({ end }) => end) ?? [];
    this.#made = timeline ? timeline.made - timeline.noted.length + this.#noted.length : 0;
  }

  /** Call this when the code starts. Code that was refused may start a second time. */
  start(): void {
    this.#startedAt = performance.now();
    this.#noted = [];
    this.#isRenumbered = true;
    this.#made = 0;
  }

  get timeline(): TimelineHead {
    const startedAt = Date.now() - (performance.now() - this.#startedAt);
    return { at: this.#at, startedAt, made: this.#made };
  }

  /** The calls that were noted or have ended since this was last called, or all calls. They change later. */
  changes(isWanted: boolean): CallChanges {
    const isWhole = isWanted || this.#isRenumbered;
    const places = isWhole ? this.#noted.keys() : this.#changed.values();
    const calls = [...places].flatMap((place): [number, Noted][] => {
      const noted = this.#noted[place];
      return noted ? [[place, noted]] : [];
    });
    this.#changed.clear();
    this.#isRenumbered = false;
    return { isWhole, calls };
  }

  /** Notes the calls of the execution. */
  readonly hear = (event: ToolCallEvent): void => {
    switch (event.type) {
      case "called":
        this.#called(event.call, event.request);
        break;
      case "planned": {
        const open = this.#open.get(event.call);
        if (open) open.noted.isPlanned = true;
        break;
      }
      case "returned": {
        const { call, value, waitedMs } = event;
        if (!("result" in value)) this.#callEnded(call, { outcome: "ok", text: textOf(value), waitedMs });
        break;
      }
      case "failed": {
        const { code, message } = event.error;
        this.#callEnded(event.call, { outcome: "failed", code, message, waitedMs: event.waitedMs });
        break;
      }
      case "cancelled":
        this.#callEnded(event.call, { outcome: "cancelled" });
        break;
      case "restored": {
        const { call, request, answer } = event;
        this.#called(call, request);
        if (!("error" in answer)) this.#callEnded(call, { outcome: "ok", text: textOf(answer) });
        else this.#callEnded(call, { outcome: "failed", code: answer.error.code, message: answer.error.message });
      }
    }
  };

  #called(call: number, { namespace, group, name, line, args = "" }: CallRequest): void {
    // Questions about the tools do not count as calls.
    if (namespace === "") return;
    this.#made += 1;
    if (this.#noted.length >= maxRecordedCalls) return;
    const known = { namespace, group, name, line, args: this.#begin(args, maxRecordedArgumentChars) };
    const noted: Noted = { call: known, number: call, startMs: this.#now, argumentChars: args.length };
    const place = this.#noted.push(noted) - 1;
    this.#open.set(call, { noted, place, all: this.#noted });
    this.#changed.add(place);
  }

  #callEnded(call: number, end: NotedEnd): void {
    const open = this.#open.get(call);
    if (!open) return;
    this.#open.delete(call);
    const { noted, place, all } = open;
    // The code may have started a second time.
    if (this.#noted === all) this.#changed.add(place);
    noted.endMs = this.#now;
    if (end.outcome === "ok") noted.resultChars = end.text.length;
    noted.end = end.outcome === "ok" ? { ...end, text: this.#begin(end.text, maxRecordedResultChars) } : end;
  }

  /** `labels` are of what the session has read. */
  ended(outcome: Outcome, labels: () => Read[] = () => []): void {
    const durationMs = this.#now;
    const noted = this.#noted;
    const { store } = this.#parts;
    this.#recorder.keep(store, async () => {
      const record = await this.#record(outcome, noted, durationMs);
      const read = labels();
      return read.length === 0 ? record : { ...record, labels: read };
    });
  }

  get #now(): number {
    return performance.now() - this.#startedAt;
  }

  /** Copies the beginning, so that the whole text is not kept in memory. Empty if contents are not recorded. */
  #begin(text: string, max: number): string {
    if (this.#recorder.options.mode === "sizes") return "";
    return text.length <= max + maxMaskedSecretChars
      ? text
      : Buffer.from(text.slice(0, max + maxMaskedSecretChars)).toString();
  }

  async #record(outcome: Outcome, noted: Noted[], durationMs: number): Promise<ExecutionRecord> {
    const { config, mode } = this.#recorder.options;
    const { receipt, logs, ok } = outcome;
    const contents = mode === "contents" ? await Excerpts.of(this.#parts) : undefined;
    const source = this.#source;
    const { door, person } = this.#parts.config;
    const timeline = noted.map((each) => recordedCall(each, durationMs, this.#parts, contents));
    const tools = new Map<string, CalledTool>();
    let denied = 0;
    for (const { server, tool, code } of timeline) {
      if (code === "POLICY_DENIED") denied += 1;
      const key = `${server}\n${tool}`;
      tools.set(key, { server, tool, calls: (tools.get(key)?.calls ?? 0) + 1 });
    }
    const code = contents?.text(source, maxRecordedCodeChars).text;
    const comment = contents?.text(commentIn(source), maxSummedTextChars).text;
    const value = contents && ok ? (outcome.json ?? JSON.stringify(outcome.value)) : undefined;
    return {
      version: 1,
      id: this.id,
      at: this.#at,
      startedBy: this.#startedBy,
      program: this.#program,
      repeats: this.#repeats,
      session: this.#session,
      dryRun: this.#isDryRun ? true : undefined,
      config,
      door,
      person,
      agent: this.#host && agentText(this.#host)?.slice(0, maxSummedTextChars),
      // The folder of a server for people says nothing about them.
      folder: person === undefined ? this.#parts.cwd : undefined,
      comment: comment === "" ? undefined : comment,
      ok,
      reason: ok ? undefined : outcome.reason,
      failedWith: ok ? undefined : outcome.error.code?.slice(0, 100),
      durationMs: rounded(durationMs),
      beforeMs: rounded(this.#startedAt - this.#begunAt),
      calls: receipt.calls,
      failures: receipt.failures,
      denied: denied || undefined,
      tools: tools.size === 0 ? undefined : [...tools.values()].slice(0, maxSummedTools),
      charsIn: receipt.charsIn,
      charsOut: receipt.charsOut,
      hasContents: contents !== undefined,
      codeDigest: code === undefined ? undefined : digestOfCode(code),
      receipt: receipt.id,
      host: this.#host,
      protocols: this.#protocols(noted),
      code: {
        chars: source.length,
        lines: source.replace(/\n$/, "").split("\n").length,
        text: code,
      },
      timeline,
      moreCalls: this.#made - noted.length,
      logs: {
        lines: logs.length,
        chars: logs.reduce((sum, { text }) => sum + text.length + 1, 0),
        entries:
          contents && logs.map(({ level, text }) => ({ level, text: contents.text(text, maxRecordedLogChars).text })),
      },
      error: ok ? undefined : errorOf(outcome.error, contents),
      value: value === undefined ? undefined : contents?.json(value, maxRecordedValueChars, "value"),
    };
  }

  /** By server. A call that failed may have reached no server. */
  #protocols(noted: readonly Noted[]): Record<string, string> {
    const { pool } = this.#parts;
    const servers = new Set(noted.map(({ call }) => call.namespace));
    const known = [...servers].flatMap((server) => {
      const protocol = pool.identity(server)?.protocol;
      return protocol === undefined ? [] : [[server, protocol]];
    });
    return Object.fromEntries(known);
  }
}

function recordedCall(
  noted: Noted,
  durationMs: number,
  parts: RecordedParts,
  contents: Excerpts | undefined,
): RecordedCall {
  const { call, startMs, argumentChars, resultChars = 0, end = { outcome: "cancelled" } } = noted;
  return {
    ...usedNames(call, parts),
    line: call.line,
    startMs: rounded(startMs),
    // A call that was cancelled with the execution may end a moment after it.
    endMs: rounded(Math.min(noted.endMs ?? durationMs, durationMs)),
    waitedMs: end.outcome !== "cancelled" && end.waitedMs ? rounded(end.waitedMs) : undefined,
    outcome: end.outcome,
    notMade: noted.isPlanned,
    argumentChars,
    resultChars,
    code: end.outcome === "failed" ? end.code?.slice(0, 100) : undefined,
    arguments: contents?.json(call.args, maxRecordedArgumentChars, "arguments"),
    message: end.outcome === "failed" ? contents?.text(end.message, maxRecordedLogChars).text : undefined,
    result: end.outcome === "ok" ? contents?.json(end.text, maxRecordedResultChars, "result") : undefined,
  };
}

/** A call of an execution that has not ended, by its number. */
export interface CallSoFar {
  number: number | undefined;
  call: RecordedCall;
}

/** The calls that had ended when the execution was saved, and whether their contents were recorded. */
export interface RecordedSoFar {
  calls: CallSoFar[];
  hasContents: boolean;
}

/** Secrets are removed, as from a record. */
export async function recordedSoFar({ noted }: Timeline, parts: RecordedParts): Promise<RecordedSoFar> {
  const ended = noted.filter(({ end }) => end);
  const hasContents = ended.every(isWithContents);
  const contents = hasContents ? await Excerpts.of(parts) : undefined;
  const calls = ended.map((each) => ({
    number: each.number,
    call: recordedCall(each, each.endMs ?? 0, parts, contents),
  }));
  return { calls, hasContents };
}

/** Texts are empty if only sizes are recorded. */
function isWithContents({ call, argumentChars, end, resultChars = 0 }: Noted): boolean {
  return (argumentChars === 0 || call.args !== "") && (end?.outcome !== "ok" || resultChars === 0 || end.text !== "");
}

/** By the code as it is recorded, without secrets. */
function digestOfCode(code: string): string {
  return sha256(code).slice(0, 20);
}

function errorOf({ name, message, code, hint, line }: OutcomeError, contents: Excerpts | undefined): RecordedError {
  return {
    code: code?.slice(0, 100),
    line,
    name: contents?.text(name, 200).text,
    message: contents?.text(message, maxRecordedLogChars).text,
    hint: hint === undefined ? undefined : contents?.text(hint, maxRecordedLogChars).text,
  };
}

/** The time of `performance.now()` at that time, in milliseconds since 1970. */
function ago(at: number): number {
  return performance.now() - (Date.now() - at);
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
