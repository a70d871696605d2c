/** Records what one execution does: logs, displayed blocks, calls, and in the end the outcome. */
import { charsOfBlocks } from "../base/context-characters.ts";
import { eventLoopTurn } from "../base/event-loop.ts";
import { displayedBlocks, shownValue } from "../base/media.ts";
import { type Clock, HeldTime } from "../base/time-limit.ts";
import { allContextChars, textOf } from "./binding-value.ts";
import type {
  Bindings,
  BindingValue,
  CallWatcher,
  FailureReason,
  Limits,
  Outcome,
  OutcomeError,
  Receipt,
  ToolUse,
} from "./contract.ts";
import { resultTooLarge } from "./limit-errors.ts";
import { LogLines } from "./log-buffer.ts";
import {
  type CallMessage,
  type ErrorShape,
  type LogPart,
  largeChars,
  type SettleMessage,
  type SuccessShape,
} from "./messages.ts";
import { toolId } from "./seen-calls.ts";

/** Content blocks other than data. */
const mayHaveBlocks = /"type":"(?:text|image|audio|resource|resource_link)"/;

/** Makes a success whose value is parsed when it is first read. */
export function largeSuccess(json: string, common: Pick<Outcome, "logs" | "display" | "receipt">): Outcome {
  let known: { value: unknown } | undefined;
  const value = () => {
    known ??= { value: JSON.parse(json) };
    return known.value;
  };
  return Object.defineProperties({ ok: true, ...common } as Extract<Outcome, { ok: true }>, {
    json: { value: json },
    value: { enumerable: true, get: value },
  });
}

/** Maximum number of characters of a failure that a receipt tells. */
const maxMessage = 200;

/** Characters of a failure that are compared with what the program says. */
const maxFailure = 1_000;

const atStart = () => ({
  /** In milliseconds since 1970. */
  startedAt: Date.now(),
  tools: new Map<string, ToolUse>(),
  /** The calls that were counted and have not ended. */
  open: new Set<number>(),
  /** The message of the first failure of each tool. */
  failures: new Map<string, string>(),
  registry: undefined as string | undefined,
  /** Characters of all results, with images counted by their cost in a context. */
  charsIn: 0,
});

/** What was counted so far: plain data of bounded size. */
export type RecorderState = ReturnType<typeof atStart>;

/** What the program has logged or displayed, as it came: log lines, or the JSON of a displayed value. It does not change. */
export type Recorded = readonly LogPart[] | string;

interface RecorderOptions {
  /** The id of the execution. */
  id: string;
  limits: Limits;
  watch?: CallWatcher | undefined;
  /** Recorded before the execution was saved. */
  saved?: { recorder: RecorderState; recorded: readonly Recorded[] } | undefined;
  /** Whether the execution may be saved, so that what it logs and displays is also kept as it came. */
  isKept?: boolean;
}

export class Recorder {
  readonly #id: string;
  readonly #startedAt: number;
  readonly #logs = new LogLines();
  readonly #display: unknown[] = [];
  #displayedChars = 0;
  readonly #recorded: Recorded[] = [];
  readonly #isKept: boolean;
  readonly #state: RecorderState;
  readonly #limits: Limits;
  readonly #watch: CallWatcher | undefined;

  constructor({ id, limits, watch, saved, isKept = false }: RecorderOptions) {
    this.#id = id;
    this.#limits = limits;
    this.#watch = watch;
    this.#isKept = isKept;
    this.#state = saved?.recorder ?? atStart();
    this.#startedAt = performance.now() - (Date.now() - this.#state.startedAt);
    for (const each of saved?.recorded ?? []) {
      if (typeof each === "string") this.display(each);
      else this.log(each);
    }
  }

  /** What was counted so far. It changes later: copy it at once. */
  get state(): RecorderState {
    return this.#state;
  }

  /** Everything that was logged and displayed so far. */
  get recorded(): readonly Recorded[] {
    return this.#recorded;
  }

  log(parts: readonly LogPart[]): void {
    if (this.#isKept && parts.length > 0) this.#recorded.push(parts);
    for (const part of parts) this.#logs.add(part);
  }

  display(json: string): void {
    if (this.#isKept) this.#recorded.push(json);
    // Large data would be shown as this text anyway.
    const displayed: unknown =
      json.length > largeChars && !mayHaveBlocks.test(json) ? { type: "text", text: json } : JSON.parse(json);
    this.#display.push(displayed);
    this.#displayedChars += charsOfBlocks(displayedBlocks(displayed));
  }

  /** Notes the first access to the registry. */
  asked(what: string): void {
    this.#state.registry ??= what;
  }

  /** Makes one call through the bindings. Returns the answer for the program; a failure is an answer too. */
  async call(message: CallMessage, bindings: Bindings, signal: AbortSignal, clock: Clock): Promise<SettleMessage> {
    const { call, namespace, group, name, raw, line } = message;
    const tool = toolId(message);
    const startedAt = performance.now();
    const held = new HeldTime(clock);
    // Questions about the tools do not count as calls.
    if (namespace === "") this.asked(`tools.${name}`);
    const use = namespace === "" ? newUse() : this.#use(tool);
    // A call that is made again, after its process has died, counts once.
    if (!this.#state.open.has(call)) use.calls += 1;
    this.#state.open.add(call);
    const ended = this.#watch?.(message);
    try {
      // Many calls with large arguments, made at once, must not be handled at once.
      if (message.args.length > largeChars) await eventLoopTurn();
      const args = JSON.parse(message.args) as Record<string, unknown>;
      const made = { execution: this.#id, call, line };
      const value = await bindings.call(
        { namespace, group, name, args, argsJson: message.args, raw },
        signal,
        held,
        made,
      );
      const text = textOf(value);
      if (text.length > largeChars) await eventLoopTurn();
      await this.#received(use, value, message);
      const { resultBytes } = this.#limits;
      // A UTF-16 unit has at most three bytes in UTF-8.
      const bytes = text.length * 3 > resultBytes ? Buffer.byteLength(text) : 0;
      if (bytes > resultBytes) throw resultTooLarge(tool, bytes, this.#limits);
      ended?.(signal.aborted ? { outcome: "cancelled" } : { outcome: "ok", text, waitedMs: held.ms });
      return { type: "settle", call, ...value };
    } catch (error) {
      const shape = errorShape(error);
      // A call that was cancelled with the execution did not fail.
      if (signal.aborted) ended?.({ outcome: "cancelled" });
      else {
        this.#failed(tool, use, shape);
        ended?.({ outcome: "failed", code: shape.code, message: shape.message, waitedMs: held.ms });
      }
      return { type: "settle", call, error: shape };
    } finally {
      use.durationMs += performance.now() - startedAt - held.ms;
      this.#state.open.delete(call);
    }
  }

  /** Counts a call that was answered before the execution was continued here. */
  answered(message: CallMessage, answer: SettleMessage): void {
    const { call, namespace } = message;
    const use = namespace === "" ? newUse() : this.#use(toolId(message));
    if (!this.#state.open.delete(call)) use.calls += 1;
    const ended = this.#watch?.(message);
    if ("error" in answer) {
      this.#failed(toolId(message), use, answer.error);
      ended?.({ outcome: "failed", code: answer.error.code, message: answer.error.message });
    } else {
      void this.#received(use, answer, message);
      ended?.({ outcome: "ok", text: textOf(answer) });
    }
  }

  /** Counts a result. Answers to questions about the tools do not count. */
  async #received(use: ToolUse, value: BindingValue, message: CallMessage): Promise<void> {
    use.resultChars += textOf(value).length;
    if (message.namespace === "") return;
    const chars = await allContextChars(value, message);
    this.#state.charsIn += chars;
  }

  #failed(tool: string, use: ToolUse, { message }: ErrorShape): void {
    use.failures += 1;
    if (!this.#state.failures.has(tool)) this.#state.failures.set(tool, message.slice(0, maxFailure));
  }

  success({ json, textChars }: SuccessShape): Outcome {
    this.#noteHiddenFailures(json ?? "");
    const common = { logs: this.#logs.entries, display: this.#display };
    if (json !== undefined && json.length > largeChars) {
      return largeSuccess(json, { ...common, receipt: this.#receipt(textChars ?? json.length) });
    }
    const value: unknown = json === undefined ? undefined : JSON.parse(json);
    return { ok: true, value, ...common, receipt: this.#receipt(json === undefined ? 0 : returnedChars(value, json)) };
  }

  failure(reason: FailureReason, error: OutcomeError): Outcome {
    return {
      ok: false,
      reason,
      error,
      logs: this.#logs.entries,
      display: this.#display,
      receipt: this.#receipt(error.message.length + (error.hint?.length ?? 0)),
    };
  }

  /** Tells the first failure if the program caught all failures and does not mention it. */
  #noteHiddenFailures(json: string): void {
    for (const [tool, message] of this.#state.failures) {
      const use = this.#use(tool);
      const isShown = (text: string) => text.includes(message) || text.includes(JSON.stringify(message).slice(1, -1));
      if (use.failures < use.calls || isShown(json) || this.#logs.entries.some(({ text }) => isShown(text))) continue;
      use.hiddenFailure = message.replace(/\s+/g, " ").slice(0, maxMessage);
    }
  }

  #use(id: string): ToolUse {
    return this.#state.tools.getOrInsertComputed(id, newUse);
  }

  #receipt(resultChars: number): Receipt {
    const { tools, registry } = this.#state;
    const uses = [...tools].sort(([a], [b]) => (a < b ? -1 : 1));
    const sum = (pick: (use: ToolUse) => number) => uses.reduce((total, [, use]) => total + pick(use), 0);
    return {
      id: this.#id,
      durationMs: round(performance.now() - this.#startedAt),
      calls: sum((use) => use.calls),
      failures: sum((use) => use.failures),
      tools: Object.fromEntries(uses.map(([id, use]) => [id, { ...use, durationMs: round(use.durationMs) }])),
      charsIn: this.#state.charsIn,
      charsOut:
        resultChars + this.#displayedChars + this.#logs.entries.reduce((total, { text }) => total + text.length + 1, 0),
      ...(registry === undefined ? {} : { registry }),
    };
  }
}

/** Images count by their cost in a context, as in results. */
function returnedChars(value: unknown, json: string): number {
  if (typeof value === "string") return value.length;
  const { value: rest, media } = shownValue(value);
  return media.length === 0 ? json.length : (JSON.stringify(rest)?.length ?? 0) + charsOfBlocks(media);
}

function newUse(): ToolUse {
  return { calls: 0, failures: 0, durationMs: 0, resultChars: 0 };
}

/** What the program may see of an error: never a stack, a cause, or a path of ours. */
function errorShape(error: unknown): ErrorShape {
  const { code, hint, message } = error as { code?: unknown; hint?: unknown; message?: unknown };
  return {
    name: "ToolError",
    message: typeof message === "string" ? message : String(error),
    ...(typeof code === "string" ? { code } : {}),
    ...(typeof hint === "string" ? { hint } : {}),
  };
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
