/**
 * A reusable context that executions run in, one after another. Between them, the engine's memory is restored to its state before
 * the first one, so that nothing of an execution is left.
 */

import type { Lifetime, QuickJSContext, QuickJSHandle, QuickJSRuntime } from "quickjs-emscripten-core";
import { megabyte } from "../../base/units.ts";
import type { Limits } from "../contract.ts";
import { DirectCall, DirectFunction } from "../engine/direct-call.ts";
import { type Engine, limitMemory, staticBytes } from "../engine/engine.ts";
import { changedRuns, restoreRuns, writeRuns } from "../engine/memory-runs.ts";
import { pageBytes, type ReadyMemory, Remembered, sharedPart } from "../engine/remembered.ts";
import type { Guest, HostFunctions } from "../guest/host.ts";
import type { ByteKind } from "../guest/kinds.ts";
import { bytesOfText, textOfBytes } from "../host/bytes.ts";
import type { NextImage } from "../program-image.ts";

/** An engine's memory that has grown beyond this is discarded instead of restored, because its pages would stay resident. */
export const keptContextBytes = 48 * megabyte;

/** If a program has used more memory than this, the pages go back to the system before the next one. */
const minGivenBackBytes = 16 * megabyte;

/** The used part below the end of a fresh engine's memory: the beginning of the heap, and the top of the stack. */
const keptBelowEndBytes = megabyte;

/**
 * A context counts as exhausted when less than this is left of its memory. The runtime's limit is a little below the end of the memory (see
 * `engineReserveBytes`), and allocations leave gaps.
 */
const exhaustedBytes = 3 * megabyte;

/** Time for the engine's own work at the end of an execution. Stopping it would lose its stack, and so the context. */
const contextEndingMs = 50;

/** Host calls between two garbage collections. */
const callsPerCollection = 50_000;

/** What the guest may call in the execution that runs. The context itself provides the time and converts texts. */
export interface HostCalls extends Omit<HostFunctions, "now" | "bytes" | "text"> {
  /** The program's own time in milliseconds, if the program is replayed. */
  readonly world: { readonly elapsed: number } | undefined;
  /** Whether the program must stop now. Called very often. */
  stopped(): boolean;
}

/** The form of an exception that escapes from a job. */
const outOfMemory = () =>
  Object.assign(new Error("a job was lost"), { guest: { name: "InternalError", message: "out of memory" } });

/** The guest's methods that the worker calls, see guest/host.ts. */
const guestMethods: readonly (keyof Guest)[] = ["start", "settle", "loaded", "loadFailed", "fire", "waiting", "finish"];

/** The two parts of an engine's memory that a context restores. */
type Parts = Pick<ReadyMemory, "statics" | "heap">;

const pageBegin = (address: number) => address - (address % pageBytes);
const pageEnd = (address: number) => pageBegin(address + pageBytes - 1);

export class ReusableContext implements Disposable {
  readonly #engine: Engine;
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #guest: QuickJSHandle;
  /** Looked up before the state is remembered: a later handle would not survive `renew`. */
  readonly #methods: ReadonlyMap<keyof Guest, QuickJSHandle>;
  /** The address of the word in which the engine keeps the end of its used memory. */
  readonly #endAddress: number;
  /** Memory is restored from here on. Below is the rest of the stack, down to the static data; it is never reached. */
  readonly #keptFrom: number;
  #fresh: { statics: Remembered; heap: Remembered } | undefined;
  /** The guest's way to call tools, and ours to answer. */
  readonly #calls: DirectFunction;
  readonly #direct: DirectCall;
  #host: HostCalls | undefined;
  /** The end of the last execution; undefined while one runs. */
  #leftAt: number | undefined;
  /** Whether the engine was stopped within one of its own loops, so that its stack was not unwound. */
  #torn = false;
  #hostCalls = 0;
  /** Offset of the program's own time, so that the time of a program that was saved elsewhere continues. */
  #nowOffset = 0;

  /** `loadGuest` makes the guest ready: it runs the guest's script, or restores a snapshot or a shared copy. */
  constructor(
    engine: Engine,
    endAddress: number,
    loadGuest: (context: QuickJSContext, reusable: ReusableContext) => void,
  ) {
    this.#engine = engine;
    this.#endAddress = endAddress;
    this.#keptFrom = pageBegin(Math.max(staticBytes, this.#end - keptBelowEndBytes));
    this.#runtime = engine.quickjs.newRuntime();
    this.#runtime.setInterruptHandler(() => this.#stopped);
    engine.onTick = () => {
      const ending = this.#leftAt !== undefined && performance.now() - this.#leftAt < contextEndingMs;
      if (!this.#stopped || ending) return;
      this.#torn = true;
      throw new Error("stopped");
    };
    this.#context = this.#runtime.newContext();
    this.#calls = new DirectFunction(engine, this.#context, (id, all) => {
      this.#collectNowAndThen();
      return this.#host?.call(id, all);
    });
    this.#direct = new DirectCall(engine);
    this.#defineHost();
    loadGuest(this.#context, this);
    limitMemory(this.#runtime, engine);
    this.#guest = this.#context.getProp(this.#context.global, "__guest");
    this.#methods = new Map(guestMethods.map((name) => [name, this.#context.getProp(this.#guest, name)]));
  }

  /** A copy of the current state, which other workers can share. */
  share(): Parts {
    const memory = this.#engine.memory.bytes;
    return {
      statics: sharedPart(memory, 0, staticBytes),
      heap: sharedPart(memory, this.#keptFrom, pageEnd(this.#end)),
    };
  }

  /**
   * Remembers the current state for `renew`. A context that is used once does not need it. Little may have changed since the parts were
   * copied, here or in another engine.
   */
  remember({ statics, heap }: Parts = this.share()): void {
    const memory = this.#engine.memory.bytes;
    this.#fresh = {
      statics: new Remembered(memory, statics, staticBytes),
      heap: new Remembered(memory, heap, pageEnd(this.#end)),
    };
  }

  /**
   * Gives the context to an execution. With more than 256 KB of stack, an overflow would reach the host as a RangeError of the host's
   * own stack, which ends the instance (quickjs-emscripten #240).
   */
  enter(host: HostCalls, { stackBytes }: Limits): void {
    this.#host = host;
    this.#leftAt = undefined;
    this.#runtime.setMaxStackSize(Math.min(stackBytes, 262_144));
  }

  /** Ends the execution. Its code is stopped soon, and cannot call the host from now on. */
  leave(): void {
    this.#host = undefined;
    this.#leftAt = performance.now();
  }

  /** Restores the remembered state. Resolves with false if the context cannot be used again. */
  async renew(): Promise<boolean> {
    this.#host = undefined;
    this.#leftAt = undefined;
    this.#nowOffset = 0;
    const end = this.#end;
    const fresh = this.#fresh;
    if (!fresh || this.#torn || this.wasRefused || this.usedBytes > keptContextBytes) return false;
    const memory = this.#engine.memory.bytes;
    const { zerosFrom } = fresh.heap;
    await clear(memory, zerosFrom, Math.max(end, zerosFrom));
    fresh.heap.restore(memory);
    fresh.statics.restore(memory);
    return true;
  }

  /**
   * Adds the memory of an execution that only waits: its stack is empty, so its memory is the whole program. The execution continues in
   * any fresh context that is like this one was before it. Returns false if it was stopped within the engine.
   */
  save(image: NextImage): boolean {
    if (this.#torn) return false;
    const memory = this.#engine.memory.bytes;
    const save = (from: number, to: number, before: Remembered | undefined) => {
      for (let start = from; start < to; start += pageBytes) {
        const page = memory.subarray(start, start + pageBytes);
        image.add(start / pageBytes, page, () => {
          // Memory beyond the remembered state was zero. Without a remembered state, everything counts as changed.
          const runs = before ? changedRuns(before.page(start), page, start) : [{ start, length: pageBytes }];
          return runs.length === 0 ? undefined : writeRuns([runs.length], runs, memory);
        });
      }
    };
    save(0, staticBytes, this.#fresh?.statics);
    save(this.#keptFrom, pageEnd(this.#end), this.#fresh?.heap);
    return true;
  }

  /** The program's own time in milliseconds. */
  get now(): number {
    return this.#now;
  }

  /** Bytes of memory that are in use. */
  get usedBytes(): number {
    return staticBytes + this.#end - this.#keptFrom;
  }

  /** Loads an execution that was saved at the time `at` into a fresh context. Call `loadPage` for each page of its memory. */
  continueFrom({ now, at }: { now: number; at: number }): void {
    this.#nowOffset += now + Date.now() - at - this.#now;
  }

  loadPage(content: Uint8Array): void {
    restoreRuns(content, 1, this.#engine.memory.bytes);
  }

  /** The program's own time in milliseconds. */
  get #now(): number {
    return performance.now() + this.#nowOffset;
  }

  /** Frees everything. The engine aborts here if a handle was not freed. */
  [Symbol.dispose](): void {
    this.#leftAt = undefined;
    for (const method of this.#methods.values()) method.dispose();
    this.#guest.dispose();
    this.#context.dispose();
    this.#runtime.dispose();
  }

  /** Evaluates an expression. `file` is its name in stacks. Throws what it throws. */
  evaluate(code: string, file: string): QuickJSHandle {
    return this.#context.unwrapResult(this.#context.evalCode(code, file, { type: "global", strict: true }));
  }

  /** Calls a method of the guest. */
  callGuest(name: keyof Guest, ...args: (string | number | QuickJSHandle)[]): void {
    this.#call(name, args).dispose();
  }

  /** Gives the guest an answer to a call. */
  settle(call: number, kind: number, payload: string): void {
    const { context } = this.#calls;
    // The guest's first call to the host tells where the context is. A program that was just resumed has made none yet.
    if (context === undefined) this.callGuest("settle", call, kind, payload);
    else this.#direct.call(context, this.#methods.get("settle")!, this.#guest, [call, kind, payload]);
  }

  /** Calls a method of the guest that returns a boolean. */
  askGuest(question: "waiting" | "finish"): boolean {
    using answer = this.#call(question, []);
    return this.#context.getNumber(answer) === 1;
  }

  #call(name: keyof Guest, args: (string | number | QuickJSHandle)[]): QuickJSHandle {
    const context = this.#context;
    const handles = args.map((arg) => {
      if (typeof arg === "string") return context.newString(arg);
      return typeof arg === "number" ? context.newNumber(arg) : arg;
    });
    const result = context.unwrapResult(context.callFunction(this.#methods.get(name)!, this.#guest, ...handles));
    for (const handle of handles) handle.dispose();
    return result;
  }

  /** Runs some pending jobs. Returns false if there are none. Throws what escapes from one, as `guest`. */
  runJobs(): boolean {
    if (!this.#runtime.hasPendingJob()) {
      if (this.#isExhausted && !this.askGuest("waiting") && !this.askGuest("finish")) throw outOfMemory();
      return false;
    }
    const result = this.#runtime.executePendingJobs(1_000);
    if (result.error) {
      const guest = result.error.consume((handle) => this.#context.dump(handle));
      throw Object.assign(new Error("a job failed"), { guest });
    }
    result.dispose();
    return true;
  }

  get #stopped(): boolean {
    return this.#leftAt !== undefined || (this.#host?.stopped() ?? false);
  }

  /** Whether the memory is or was exhausted. Then a promise may have been rejected without memory for the job that reports it. */
  get #isExhausted(): boolean {
    return this.#end > this.#engine.memory.limitBytes - exhaustedBytes;
  }

  /** Returns undefined if there is no room for the copy that the library makes. */
  #bytesIn(buffer: QuickJSHandle): Lifetime<Uint8Array> | undefined {
    try {
      return this.#context.getArrayBuffer(buffer);
    } catch {
      return undefined;
    }
  }

  /** Whether an allocation of this size fits. The library does not check the answer of the allocator, so it is tried. */
  #hasRoomFor(bytes: number): boolean {
    const { memory, module } = this.#engine;
    if (this.#end + bytes >= memory.limitBytes - exhaustedBytes) return false;
    const tried = module._malloc(bytes);
    if (tried !== 0) module._free(tried);
    return tried !== 0;
  }

  /** Whether this process had no memory when the program last needed more. */
  get wasRefused(): boolean {
    const { limitBytes, maxBytes } = this.#engine.memory;
    return limitBytes < maxBytes;
  }

  get #end(): number {
    return this.#engine.memory.view.getInt32(this.#endAddress, true);
  }

  /**
   * Collects garbage from time to time: each call leaves a kilobyte, which JavaScriptCore does not collect in time because the
   * engine's memory makes the heap look small.
   */
  #collectNowAndThen(): void {
    this.#hostCalls += 1;
    if (this.#hostCalls % callsPerCollection === 0) Bun.gc(true);
  }

  #defineHost(): void {
    const context = this.#context;
    using object = context.newObject();
    const define = (name: string, body: (host: HostCalls, ...args: QuickJSHandle[]) => unknown) => {
      using method = context.newFunction(name, (...args) => {
        this.#collectNowAndThen();
        const answer = this.#host && body(this.#host, ...args);
        if (typeof answer === "string") return context.newString(answer);
        if (answer instanceof Uint8Array) return context.newArrayBuffer(answer as never);
        return typeof answer === "number" ? context.newNumber(answer) : undefined;
      });
      context.setProp(object, name, method);
    };
    const text = (handle: QuickJSHandle | undefined) => (handle ? context.getString(handle) : "");
    const number = (handle: QuickJSHandle | undefined) => (handle ? context.getNumber(handle) : 0);
    define("log", (host, level, line, open) => host.log(text(level), text(line), number(open)));
    define("display", (host, json) => host.display(text(json)));
    define("call", (host, id, all) => {
      this.#calls.isCalled();
      return host.call(number(id), text(all));
    });
    define("load", (host, id, skill) => host.load(number(id), text(skill)));
    define("setTimer", (host, id, delayMs) => host.setTimer(number(id), number(delayMs)));
    define("clearTimer", (host, id) => host.clearTimer(number(id)));
    define("now", (host) => host.world?.elapsed ?? this.#now);
    const textOrNone = (handle: QuickJSHandle | undefined) =>
      handle && context.typeof(handle) === "string" ? text(handle) : undefined;
    define("done", (host, json, notes) => host.done(textOrNone(json), textOrNone(notes)));
    define("failed", (host, json) => host.failed(text(json)));
    define("compute", (host, name, args) => host.compute(text(name), text(args)));
    define("file", (host, operation, args) => host.file(text(operation), text(args)));
    define("bytes", (_, kind, from) => {
      const bytes = bytesOfText(text(kind) as ByteKind, text(from));
      return bytes && this.#hasRoomFor(bytes.length) ? bytes : undefined;
    });
    define("text", (_, kind, buffer) => {
      using bytes = buffer && this.#bytesIn(buffer);
      return bytes && textOfBytes(text(kind) as ByteKind, bytes.value);
    });
    context.setProp(context.global, "__host", object);
  }
}

/** Fills memory with zeros. Everything after `to` must be zero already. Many pages go back to the system: using them again takes 0.5 ms per megabyte. */
async function clear(memory: Uint8Array, from: number, to: number): Promise<void> {
  if (to - from > minGivenBackBytes) {
    const { giveBackPages } = await import("../engine/give-back-pages.ts");
    if (giveBackPages(memory, from, to)) return;
  }
  memory.fill(0, from, to);
}
