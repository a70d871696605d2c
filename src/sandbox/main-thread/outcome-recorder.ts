/** Records what one execution does: logs, displayed blocks, calls, and in the end the outcome. */
import { charsOfBlocks } from "../../base/context-characters.ts";
import { largeJsonChars } from "../../base/limits.ts";
import { displayedBlocks, shownValue } from "../../base/media.ts";
import { allContextChars, contextChars, textOf } from "../binding-value.ts";
import type { CallEvent } from "../call-events.ts";
import type { BindingValue, CallRequest, FailureReason, Outcome, OutcomeError, Receipt, ToolUse } from "../contract.ts";
import { jsonCharsInTurn } from "../limits.ts";
import type { ErrorShape, LogPart, SuccessShape } from "../messages.ts";
import { calledId } from "../seen-calls.ts";
import { LogLines } from "../worker/log-buffer.ts";

/** Content blocks other than data. */
const mayHaveBlocks = /"type":"(?:text|image|audio|resource|resource_link)"/;

/** Characters of a failure in a receipt. */
const maxReceiptFailureChars = 200;

/** Characters of a failure that are compared with what the program says. */
const maxComparedFailureChars = 1_000;

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

const atStart = () => ({
  /** In milliseconds since 1970. */
  startedAt: Date.now(),
  tools: new Map<string, ToolUse>(),
  /** The calls that were counted and have not ended. */
  open: new Set<number>(),
  /** The message of the first failure of each tool. */
  failures: new Map<string, string>(),
  registry: undefined as string | undefined,
  /** The first call with numbers that the program got as texts. */
  exact: undefined as string | undefined,
  /** Characters of all results, with images counted by their cost in a context. */
  charsIn: 0,
});

/** What was counted so far: plain data of bounded size. */
export type RecorderState = ReturnType<typeof atStart>;

/** What the program has logged or displayed, as it came: log lines, or the JSON of a displayed value. It does not change. */
export type RecordedOutput = readonly LogPart[] | string;

interface RecorderOptions {
  /** The id of the execution. */
  id: string;
  /** Recorded before the execution was saved. */
  saved?: { recorder: RecorderState; recorded: readonly RecordedOutput[] } | undefined;
  /** Whether the execution may be saved, so that what it logs and displays is also kept as it came. */
  isKept?: boolean;
}

export class OutcomeRecorder {
  readonly #id: string;
  readonly #startedAt: number;
  readonly #logs = new LogLines();
  readonly #display: unknown[] = [];
  #displayedChars = 0;
  readonly #recorded: RecordedOutput[] = [];
  readonly #isKept: boolean;
  readonly #state: RecorderState;

  constructor({ id, saved, isKept = false }: RecorderOptions) {
    this.#id = id;
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
  get recorded(): readonly RecordedOutput[] {
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
      json.length > largeJsonChars && !mayHaveBlocks.test(json) ? { type: "text", text: json } : JSON.parse(json);
    this.#display.push(displayed);
    this.#displayedChars += charsOfBlocks(displayedBlocks(displayed));
  }

  /** Notes the first access to the registry. */
  asked(what: string): void {
    this.#state.registry ??= what;
  }

  /** Counts calls. A call that is made again, after its process has died, counts once. */
  readonly hear = (event: CallEvent): Promise<void> | undefined => {
    const { call, request } = event;
    const use = this.#useOf(request);
    switch (event.type) {
      case "called":
        // Questions about the tools do not count as calls.
        if (request.namespace === "") this.asked(`tools.${request.name}`);
        if (!this.#state.open.has(call)) use.calls += 1;
        this.#state.open.add(call);
        break;
      case "returned":
        this.#ended(use, event);
        return this.#received(use, event.value, request);
      case "failed":
        this.#ended(use, event);
        this.#failed(calledId(request), use, event.error);
        break;
      case "cancelled":
        this.#ended(use, event);
        break;
      case "restored":
        if (!this.#state.open.delete(call)) use.calls += 1;
        if ("error" in event.answer) this.#failed(calledId(request), use, event.answer.error);
        else return this.#received(use, event.answer, request);
    }
    return undefined;
  };

  #ended(use: ToolUse, { call, durationMs }: { call: number; durationMs: number }): void {
    use.durationMs += durationMs;
    this.#state.open.delete(call);
  }

  /** Counts a result. A promise only if the result is large. Answers to questions about the tools do not count. */
  #received(use: ToolUse, value: BindingValue, request: CallRequest): Promise<void> | undefined {
    const { length } = textOf(value);
    use.resultChars += length;
    if (request.namespace === "") return undefined;
    if (value.exact) this.#state.exact ??= calledId(request);
    if (length > jsonCharsInTurn) return this.#receivedLarge(value, request);
    this.#state.charsIn += contextChars(value, request, Number.POSITIVE_INFINITY);
    return undefined;
  }

  async #receivedLarge(value: BindingValue, request: CallRequest): Promise<void> {
    const chars = await allContextChars(value, request);
    this.#state.charsIn += chars;
  }

  #failed(tool: string, use: ToolUse, { message }: ErrorShape): void {
    use.failures += 1;
    if (!this.#state.failures.has(tool)) this.#state.failures.set(tool, message.slice(0, maxComparedFailureChars));
  }

  success({ json, textChars }: SuccessShape): Outcome {
    this.#noteHiddenFailures(json ?? "");
    this.#noteExact();
    const common = { logs: this.#logs.entries, display: this.#display };
    if (json !== undefined && json.length > largeJsonChars) {
      return largeSuccess(json, { ...common, receipt: this.#receipt(textChars ?? json.length) });
    }
    const value: unknown = json === undefined ? undefined : JSON.parse(json);
    return { ok: true, value, ...common, receipt: this.#receipt(json === undefined ? 0 : returnedChars(value, json)) };
  }

  failure(reason: FailureReason, error: OutcomeError): Outcome {
    this.#noteExact();
    return {
      ok: false,
      reason,
      error,
      logs: this.#logs.entries,
      display: this.#display,
      receipt: this.#receipt(error.message.length + (error.hint?.length ?? 0)),
    };
  }

  /** Reports the first failure if the program caught all failures and does not mention it. */
  #noteHiddenFailures(json: string): void {
    for (const [tool, message] of this.#state.failures) {
      const use = this.#use(tool);
      const isShown = (text: string) => text.includes(message) || text.includes(JSON.stringify(message).slice(1, -1));
      if (use.failures < use.calls || isShown(json) || this.#logs.entries.some(({ text }) => isShown(text))) continue;
      use.hiddenFailure = message.replace(/\s+/g, " ").slice(0, maxReceiptFailureChars);
    }
  }

  /** Reports once that numbers arrived as texts. */
  #noteExact(): void {
    const { exact } = this.#state;
    if (exact === undefined) return;
    const text = `note: numbers from ${exact} that JavaScript cannot hold are strings with all their digits; pass them on as they are, or use BigInt(text).`;
    this.#logs.add({ level: "info", text });
  }

  #useOf(request: CallRequest): ToolUse {
    return request.namespace === "" ? newUse() : this.#use(calledId(request));
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

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
