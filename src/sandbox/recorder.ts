/** What one execution did, written down while it runs: logs, display blocks, calls; in the end the outcome. */
import { randomBytes } from "node:crypto";
import type {
  Bindings,
  BindingValue,
  FailureReason,
  Limits,
  LogEntry,
  Outcome,
  OutcomeError,
  Receipt,
  ToolUse,
} from "./contract.ts";
import { resultTooLarge } from "./limit-errors.ts";
import type { ErrorShape, FromWorker, SettleMessage } from "./messages.ts";

type CallMessage = Extract<FromWorker, { type: "call" }>;

export class Recorder {
  readonly #id = randomBytes(6).toString("hex");
  readonly #startedAt = performance.now();
  readonly #logs: LogEntry[] = [];
  readonly #display: unknown[] = [];
  readonly #tools = new Map<string, ToolUse>();
  /** By tool as the code called it; only looked into when the code fails. */
  readonly #lastResults = new Map<string, BindingValue>();
  readonly #limits: Limits;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  log(entries: LogEntry[]): void {
    for (const entry of entries) this.#logs.push(entry);
  }

  display(json: string): void {
    this.#display.push(JSON.parse(json));
  }

  /** Makes one call through the bindings and gives the answer for the code; a failure is an answer too. */
  async call(message: CallMessage, bindings: Bindings, signal: AbortSignal): Promise<SettleMessage> {
    const { call, namespace, group, name, raw } = message;
    const tool = group === "tools" ? `${namespace}.${name}` : `${namespace}.${group}.${name}`;
    const startedAt = performance.now();
    // Questions about the tools are no calls of tools.
    const use = namespace === "" ? newUse() : this.#use(tool);
    use.calls += 1;
    try {
      const args = JSON.parse(message.args) as Record<string, unknown>;
      const value = await bindings.call({ namespace, group, name, args, raw }, signal);
      use.resultChars += lengthOf(value);
      const bytes = bytesOf(value);
      if (bytes > this.#limits.resultBytes) throw resultTooLarge(tool, bytes, this.#limits);
      if (!raw) this.#lastResults.set(tool, value);
      return { type: "settle", call, ok: true, value };
    } catch (error) {
      use.failures += 1;
      return { type: "settle", call, ok: false, error: errorShape(error) };
    } finally {
      use.durationMs += performance.now() - startedAt;
    }
  }

  /** The keys of the last result of a tool, for explaining how it was misused. */
  resultKeys(tool: string): string[] | undefined {
    const last = this.#lastResults.get(tool);
    if (!last || !("json" in last)) return undefined;
    const value: unknown = JSON.parse(last.json);
    return value !== null && typeof value === "object" && !Array.isArray(value)
      ? Object.keys(value).slice(0, 20)
      : undefined;
  }

  success(json: string | undefined): Outcome {
    const value: unknown = json === undefined ? undefined : JSON.parse(json);
    const shown = typeof value === "string" ? value.length : (json?.length ?? 0);
    return { ok: true, value, logs: this.#logs, display: this.#display, receipt: this.#receipt(shown) };
  }

  failure(reason: FailureReason, error: OutcomeError): Outcome {
    return { ok: false, reason, error, logs: this.#logs, display: this.#display, receipt: this.#receipt(0) };
  }

  #use(id: string): ToolUse {
    const existing = this.#tools.get(id);
    if (existing) return existing;
    const use = newUse();
    this.#tools.set(id, use);
    return use;
  }

  #receipt(valueChars: number): Receipt {
    const uses = [...this.#tools].sort(([a], [b]) => (a < b ? -1 : 1));
    const sum = (pick: (use: ToolUse) => number) => uses.reduce((total, [, use]) => total + pick(use), 0);
    return {
      id: this.#id,
      durationMs: round(performance.now() - this.#startedAt),
      calls: sum((use) => use.calls),
      failures: sum((use) => use.failures),
      tools: Object.fromEntries(uses.map(([id, use]) => [id, { ...use, durationMs: round(use.durationMs) }])),
      charsIn: sum((use) => use.resultChars),
      charsOut: valueChars + this.#logs.reduce((total, { text }) => total + text.length + 1, 0),
    };
  }
}

function newUse(): ToolUse {
  return { calls: 0, failures: 0, durationMs: 0, resultChars: 0 };
}

function bytesOf(value: BindingValue): number {
  return Object.values(value).reduce((sum: number, text: string) => sum + Buffer.byteLength(text), 0);
}

function lengthOf(value: BindingValue): number {
  return Object.values(value).reduce((sum: number, text: string) => sum + text.length, 0);
}

/** Only what is meant for the code: never a stack, a cause or a path of ours. */
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
