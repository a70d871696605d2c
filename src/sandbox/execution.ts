/** One execution inside the worker: starts the code, keeps its jobs moving, and says how it ended. */
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from "quickjs-emscripten-core";
import type { FailureReason } from "./contract.ts";
import { type Engine, limitRuntime } from "./engine.ts";
import { LogBuffer } from "./log-buffer.ts";
import { type FromWorker, type RunMessage, type SettleMessage, stopReason, type WorkerResult } from "./messages.ts";

/** The name that frames of the executed code have in stacks. */
export const codeFile = "main.ts";

type Failure = Extract<WorkerResult, { ok: false }>;

/** Made before there is code to run, so that the code does not wait for its engine. */
export class Execution implements Disposable {
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #guest: QuickJSHandle;
  readonly #send: (message: FromWorker) => void;
  readonly #logs: LogBuffer;
  readonly #timers = new Map<number, Timer>();
  #stop: Int32Array = new Int32Array(1);
  #deadline = Number.POSITIVE_INFINITY;
  #over = false;
  /** Whether the code itself may throw null, which otherwise is the engine's. */
  #throwsNull = false;

  /** A fresh runtime and context, in which `loadGuest` makes the guest ready. Limits hold from then on. */
  constructor(engine: Engine, send: (message: FromWorker) => void, loadGuest: (context: QuickJSContext) => void) {
    this.#send = send;
    this.#logs = new LogBuffer((entries) => send({ type: "logs", entries }));
    this.#runtime = engine.quickjs.newRuntime();
    this.#runtime.setInterruptHandler(() => this.#stopped() !== undefined);
    engine.onTick = () => {
      if (this.#stopped() !== undefined) throw new Error("stopped");
    };
    const context = this.#runtime.newContext();
    this.#context = context;
    this.#defineHost();
    loadGuest(context);
    limitRuntime(this.#runtime, engine);
    this.#guest = context.getProp(context.global, "__guest");
  }

  /** Runs code; called once. */
  run({ code, namespaces, timeoutMs, stop }: RunMessage): void {
    this.#stop = new Int32Array(stop);
    this.#throwsNull = /\b(?:throw\s+null|reject\(\s*null)\b/.test(code);
    this.#deadline = performance.now() + timeoutMs;
    this.#enter(() => {
      const context = this.#context;
      // The wrapper stands on the first line, so that line numbers are those of the code.
      const wrapped = `(async()=>{${code}\n})`;
      using main = context.unwrapResult(context.evalCode(wrapped, codeFile, { type: "global", strict: true }));
      using settings = context.newString(
        JSON.stringify({ namespaces, seed: [...crypto.getRandomValues(new Uint32Array(4))] }),
      );
      this.#callGuest("start", settings, main);
    });
  }

  settle(message: SettleMessage): void {
    this.#enter(() => {
      const context = this.#context;
      const json = message.ok && "json" in message.value;
      const payload = message.ok
        ? "json" in message.value
          ? message.value.json
          : message.value.text
        : JSON.stringify(message.error);
      using id = context.newNumber(message.call);
      using kind = context.newString(json ? "json" : "text");
      using text = context.newString(payload);
      this.#callGuest("settle", id, message.ok ? context.true : context.false, kind, text);
    });
  }

  /** Gives the engine back. Only after it ended well, and not from within it. */
  [Symbol.dispose](): void {
    this.#guest.dispose();
    this.#context.dispose();
    this.#runtime.dispose();
  }

  /** Called when the stop flag may have changed while the code was only waiting. */
  checkStopped(): void {
    this.#enter(() => {});
  }

  /** Runs something in the engine, then everything that became possible by it; whatever happens has a result. */
  #enter(work: () => void): void {
    if (this.#over) return;
    try {
      if (this.#stopped() === undefined) {
        work();
        this.#pump();
      }
    } catch (error) {
      this.#finish(this.#failureOf(error));
      return;
    }
    const stopped = this.#stopped();
    if (stopped !== undefined) this.#finish(stoppedFailure(stopped));
    else if (!this.#over) this.#whenIdle();
    if (!this.#over) this.#logs.flush();
  }

  #pump(): void {
    while (!this.#over && this.#runtime.hasPendingJob()) {
      const result = this.#runtime.executePendingJobs(1_000);
      if (result.error) {
        const error = result.error.consume((handle) => this.#context.dump(handle));
        throw Object.assign(new Error(String(error?.message ?? error)), { guest: error });
      }
      result.dispose();
      if (this.#stopped() !== undefined) return;
    }
  }

  /** Nothing can run: an answer or a timer will wake the code, or it has ended, or it waits for what never comes. */
  #whenIdle(): void {
    if (this.#timers.size > 0) return;
    const waiting = this.#askGuest("waiting");
    if (waiting || this.#askGuest("finish") || this.#over) return;
    this.#finish({
      ok: false,
      reason: "threw",
      error: {
        name: "DeadlockError",
        code: "NEVER_SETTLES",
        message:
          "The code waits for a promise that can never settle: no call and no timer is left that could settle it",
        hint: "Resolve or reject the promise that is awaited, or do not await it.",
        stack: "",
      },
    });
  }

  #callGuest(name: string, ...args: QuickJSHandle[]): void {
    using method = this.#context.getProp(this.#guest, name);
    this.#context.unwrapResult(this.#context.callFunction(method, this.#guest, ...args)).dispose();
  }

  #askGuest(name: string): boolean {
    using method = this.#context.getProp(this.#guest, name);
    using answer = this.#context.unwrapResult(this.#context.callFunction(method, this.#guest));
    return this.#context.dump(answer) === true;
  }

  #stopped(): FailureReason | undefined {
    const flag = Atomics.load(this.#stop, 0);
    if (flag === stopReason.cancelled) return "cancelled";
    if (flag === stopReason.timeout || performance.now() > this.#deadline) return "timeout";
    return undefined;
  }

  #defineHost(): void {
    const context = this.#context;
    using host = context.newObject();
    const define = (name: string, body: (...args: QuickJSHandle[]) => unknown) => {
      using method = context.newFunction(name, (...args) => {
        const answer = body(...args);
        return typeof answer === "number" ? context.newNumber(answer) : undefined;
      });
      context.setProp(host, name, method);
    };
    const text = (handle: QuickJSHandle | undefined) => (handle ? context.getString(handle) : "");
    const number = (handle: QuickJSHandle | undefined) => (handle ? context.getNumber(handle) : 0);
    define("log", (level, line) => this.#logs.add(text(level), text(line)));
    define("display", (json) => this.#send({ type: "display", json: text(json) }));
    define("call", (id, namespace, name, args, raw) =>
      this.#send({
        type: "call",
        call: number(id),
        namespace: text(namespace),
        name: text(name),
        args: text(args),
        raw: raw !== undefined && context.dump(raw) === true,
      }),
    );
    define("setTimer", (id, delayMs) => this.#setTimer(number(id), number(delayMs)));
    define("clearTimer", (id) => this.#clearTimer(number(id)));
    define("now", () => performance.now());
    define("done", (json) => {
      const value = json && context.typeof(json) === "string" ? context.getString(json) : undefined;
      this.#finish({ ok: true, json: value });
    });
    define("failed", (json) => {
      // A stop is an exception inside, which the code may have seen as its own failure.
      const stopped = this.#stopped();
      if (stopped !== undefined) this.#finish(stoppedFailure(stopped));
      else this.#finish(this.#guestFailure(JSON.parse(text(json))));
    });
    context.setProp(context.global, "__host", host);
  }

  #setTimer(id: number, delayMs: number): void {
    const fire = () => {
      this.#timers.delete(id);
      this.#enter(() => this.#context.newNumber(id).consume((handle) => this.#callGuest("fire", handle)));
    };
    this.#timers.set(id, setTimeout(fire, Math.min(delayMs, 2_147_483_647)));
  }

  #clearTimer(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  /** What came out of the engine, or over its edge: an overflow of the host's stack, an abort of the instance. */
  #failureOf(thrown: unknown): Failure {
    const stopped = this.#stopped();
    if (stopped !== undefined) return stoppedFailure(stopped);
    const { guest, cause } = thrown as { guest?: unknown; cause?: unknown };
    if (guest === null) return guestFailure(outOfMemory);
    if (guest && typeof guest === "object") return guestFailure(guest as GuestError);
    if (cause && typeof cause === "object") return guestFailure(cause as GuestError);
    if (thrown instanceof RangeError) return guestFailure({ name: "InternalError", message: "stack overflow" });
    return {
      ok: false,
      reason: "crashed",
      error: { name: "EngineError", message: "The engine broke while running this code", stack: "" },
    };
  }

  #guestFailure(error: GuestError): Failure {
    const unsaid = error.name === "Thrown" && error.message === "null" && !this.#throwsNull;
    return guestFailure(unsaid ? outOfMemory : error);
  }

  #finish(result: WorkerResult): void {
    if (this.#over) return;
    this.#over = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#logs.flush(true);
    // An engine that ran out of memory or stack, or was stopped in the middle, is not used again.
    const reusable = result.ok || result.reason === "threw";
    this.#send({ type: "done", result, reusable });
  }
}

/** Where there is no memory even for the error that says so, the engine throws null. */
const outOfMemory: GuestError = { name: "InternalError", message: "out of memory" };

interface GuestError {
  name?: string;
  message?: string;
  stack?: string;
  code?: string;
  hint?: string;
  floating?: boolean;
}

function guestFailure(error: GuestError): Failure {
  const { name = "Error", message = "", stack = "", code, hint, floating = false } = error;
  return { ok: false, reason: reasonOf(name, message), error: { name, message, stack, code, hint }, floating };
}

/** QuickJS has one error for each limit of its own. */
function reasonOf(name: string, message: string): FailureReason {
  if (name === "InternalError" && message === "out of memory") return "memory";
  if (name === "InternalError" && message === "string too long") return "memory";
  if ((name === "InternalError" || name === "SyntaxError") && message === "stack overflow") return "stack";
  return "threw";
}

function stoppedFailure(reason: FailureReason): Failure {
  const message = reason === "cancelled" ? "The execution was cancelled" : "The time limit was reached";
  return {
    ok: false,
    reason,
    error: { name: reason === "cancelled" ? "CancelledError" : "TimeoutError", message, stack: "" },
  };
}
