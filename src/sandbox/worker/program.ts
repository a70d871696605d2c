/** A program in its worker, from source to outcome: reads, checks, runs and explains the code. */

import { largeJsonChars } from "../../base/limits.ts";
import { CheckError, type PlacedFinding, wrongCalls } from "../code/check-error.ts";
import type { Transpiled } from "../code/transpile.ts";
import type { LogEntry } from "../contract.ts";
import { NoMemoryError } from "../engine/engine-memory.ts";
import { noRoom, noRoomToContinue, noRoomToGrow, plainFailure, stoppedProgram } from "../limit-errors.ts";
import {
  type FromWorker,
  type LookupAnswer,
  type LookupQuestion,
  phase,
  type ResumeMessage,
  type RunMessage,
  type SettleMessage,
  type SuccessShape,
  type ToProgram,
  type WorkerFailure,
} from "../messages.ts";
import { Pages, type ProgramImage, pagesOf, StateParts } from "../program-image.ts";
import { CodeRun, type Ended, type HostState, stateOf } from "./code-run.ts";
import { KnownTools } from "./known-tools.ts";
import type { ReusableContext } from "./reusable-context.ts";
import { isSuspicious, type Notes } from "./suspect-output.ts";

/** Findings of the check that an error lists. */
const maxListedFindings = 20;

export class WorkerProgram {
  readonly #context: Promise<ReusableContext>;
  readonly #message: RunMessage | ResumeMessage;
  readonly #send: (message: FromWorker) => void;
  readonly #known: KnownTools;
  #run: CodeRun | undefined;
  /** Undefined in a worker that has resumed the program. */
  #transpiled: Transpiled | undefined;
  #answered: ((answers: LookupAnswer[]) => void) | undefined;
  /** A deadline that was moved before the code ran. */
  #deadline: number | undefined;
  #isKept: boolean;
  #pages = new Pages();

  constructor(
    context: Promise<ReusableContext>,
    message: RunMessage | ResumeMessage,
    send: (message: FromWorker) => void,
  ) {
    this.#context = context;
    this.#message = message;
    this.#isKept = message.isKept;
    this.#send = send;
    this.#known = new KnownTools(message.namespaces, (questions) => this.#ask(questions));
  }

  /** Never rejects. */
  async start(): Promise<void> {
    try {
      const { transpiled, notes } = await this.#read();
      await this.#execute(transpiled, notes);
    } catch (error) {
      const { limits } = this.#message;
      if (error instanceof CheckError) this.#refuse({ ok: false, reason: "check", error: error.error });
      else if (error instanceof NoMemoryError) this.#refuse(noRoom());
      else this.#refuse(stoppedProgram("crashed", limits));
    }
  }

  /** Continues a parked program. A rejection ends the worker, and with it the program as crashed. */
  async resume(image: ProgramImage): Promise<void> {
    const context = await this.#context.catch((error: unknown) => {
      if (error instanceof NoMemoryError) this.#refuse(noRoomToContinue());
      else throw error;
    });
    if (!context) return;
    const parts = new StateParts();
    for (const { page, content } of pagesOf(image.batches)) {
      if (page < 0) parts.add(page, content);
      else context.loadPage(content);
    }
    context.continueFrom(image);
    const state = stateOf(parts);
    this.#pages = new Pages(image.manifest);
    this.#run = this.#runIn(context, state.code, state);
    this.#enter(phase.running);
    this.#send({ type: "resumed" });
  }

  /** Takes a message about the program. */
  received(message: ToProgram): void {
    const run = this.#run;
    switch (message.type) {
      case "settle":
        run?.settle(message);
        return;
      case "place":
        run?.placed();
        return;
      case "park": {
        const { saved, wakeAt, open = [], reusable = true } = run?.park(message.nearMs, message.isWhole) ?? {};
        this.#send({ type: "parked", saved, wakeAt, open, reusable });
        return;
      }
      case "stay":
        run?.stay();
        return;
      case "copy":
        run?.copy(message.isWhole);
        return;
      case "keep":
        this.#isKept = true;
        run?.keep();
        return;
      case "answers":
        this.#answered?.(message.answers);
        return;
      case "wake":
        run?.wake();
        return;
      case "deadline":
        this.#deadline = message.deadline;
        run?.moveDeadline(message.deadline);
        return;
      case "stop":
        run?.checkStopped();
    }
  }

  /** Takes answers to calls that have arrived together. */
  settleAll(messages: readonly SettleMessage[]): void {
    this.#run?.settleAll(messages);
  }

  /** Throws CheckError if the code cannot be parsed, or a call is certainly wrong. */
  async #read(): Promise<{ transpiled: Transpiled; notes: LogEntry[] }> {
    const { source, check } = this.#message;
    const { transpile } = await import("../code/transpile.ts");
    const { checkCalls, namesToCome } = await import("../code/check.ts");
    this.#enter(phase.reading);
    const transpiled = await transpile(source);
    this.#enter(phase.waiting);
    const notes = transpiled.notes.map((note): LogEntry => ({ level: "info", text: `note, ${note}` }));
    const toCome = namesToCome(transpiled.plain, this.#message.namespaces);
    this.#message.namespaces = this.#message.namespaces.map((each) => {
      const names = toCome.get(each.name) ?? [];
      return names.length > 0 ? { ...each, hidden: [...(each.hidden ?? []), ...names.map(asFunction)] } : each;
    });
    if (check === "off") return { transpiled, notes };
    const findings = await this.#known.resolved(() => {
      this.#enter(phase.reading);
      const found = checkCalls(transpiled.plain, this.#known);
      this.#enter(phase.waiting);
      return found;
    });
    const placed: PlacedFinding[] = [];
    for (const each of findings.slice(0, maxListedFindings)) {
      placed.push({ ...each, ...(await transpiled.originalPosition(each.at)) });
    }
    if (placed.length > 0 && check === "error") throw wrongCalls(placed, findings.length, source);
    const more = findings.length - placed.length;
    const warnings = placed.map(({ line, message }) => `line ${line}: ${message}`);
    if (more > 0) warnings.push(`and ${more} more invalid calls`);
    notes.push(...warnings.map((text): LogEntry => ({ level: "warn", text })));
    return { transpiled, notes };
  }

  async #execute(transpiled: Transpiled, notes: readonly LogEntry[]): Promise<void> {
    this.#transpiled = transpiled;
    const run = this.#runIn(await this.#context, transpiled.code);
    for (const { level, text } of notes) run.log(level, text);
    if (this.#deadline !== undefined) run.moveDeadline(this.#deadline);
    this.#run = run;
    this.#enter(phase.running);
    run.start();
  }

  #runIn(context: ReusableContext, code: string, saved?: HostState): CodeRun {
    const onEnd = (ended: Ended) => void this.#end(ended);
    const pages = this.#pages;
    return new CodeRun(context, {
      run: this.#message,
      code,
      isKept: this.#isKept,
      send: this.#send,
      onEnd,
      pages,
      saved,
    });
  }

  /** Sends the result first. It counts whether the explanation succeeds or not. */
  async #end({ result, reusable, usedBytes, registry, calls, logs, displayed }: Ended): Promise<void> {
    const transpiled =
      this.#transpiled ?? (await (await import("../code/transpile.ts")).transpile(this.#message.source));
    const { limits, source } = this.#message;
    const ended = { type: "ended", reusable, usedBytes, ...(registry === undefined ? {} : { registry }) } as const;
    if (result.ok) {
      const { json } = result;
      const notes = result.notes === undefined ? undefined : (JSON.parse(result.notes) as Notes);
      const output = { json, notes, logs, displayed, calls };
      const servers = this.#known.namespaces.map(({ name, jsName }) => jsName ?? name);
      const explains = isSuspicious(transpiled.plain.code, output, servers);
      this.#send({ ...ended, explains, ...successShape(json) });
      if (!explains) return;
      const { warn } = await import("../advice/warnings.ts");
      // Explanations may fail for unusual code; then there is none.
      const warnings = await warn(output, transpiled.plain, this.#known).catch(() => []);
      this.#send({ type: "explained", warnings });
      return;
    }
    const { reason } = result;
    const lacksMemory = reason === "memory" && (await this.#context).wasRefused;
    const plain = { ...plainFailure(reason, result.error, limits), ...(lacksMemory ? noRoomToGrow(limits) : {}) };
    this.#send({ ...ended, explains: true, failure: { ok: false, reason, error: plain } });
    const { describeFailure } = await import("./failure.ts");
    const about = { source, transpiled, plain, known: this.#known, calls };
    this.#send({ type: "explained", error: await describeFailure(result, about).catch(() => plain) });
  }

  #refuse(failure: WorkerFailure): void {
    this.#send({ type: "ended", reusable: failure.reason === "check", explains: false, failure });
  }

  #enter(entered: number): void {
    Atomics.store(new Int32Array(this.#message.state), 1, entered);
  }

  #ask(questions: LookupQuestion[]): Promise<LookupAnswer[]> {
    const { promise, resolve } = Promise.withResolvers<LookupAnswer[]>();
    this.#answered = resolve;
    this.#send({ type: "questions", questions });
    return promise;
  }
}

const asFunction = (name: string) => ({ name, jsName: undefined });

function successShape(json: string | undefined): SuccessShape {
  if (json === undefined) return {};
  return json.length > largeJsonChars && json.startsWith('"') ? { json, textChars: JSON.parse(json).length } : { json };
}
