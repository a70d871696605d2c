/**
 * Nothing is left of an execution: neither in the engine, nor in the host's state for it, nor in the process. Engines
 * are used in this thread as the worker uses them, so that objects on both sides can be counted.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from "quickjs-emscripten-core";
import { measureGrowth } from "../../scripts/bench/growth.ts";
import { createEngine, findEndAddress } from "../../src/sandbox/engine/engine.ts";
import { runGuest } from "../../src/sandbox/engine/snapshot.ts";
import { compiledEngine } from "../../src/sandbox/engine/wasm.ts";
import { guestScript } from "../../src/sandbox/guest/bundle.ts";
import { type CallMessage, newState } from "../../src/sandbox/messages.ts";
import type { CodeResult } from "../../src/sandbox/worker/code-result.ts";
import { CodeRun } from "../../src/sandbox/worker/code-run.ts";
import { type HostCalls, ReusableContext } from "../../src/sandbox/worker/reusable-context.ts";
import { someLimits } from "./some-limits.ts";

setDefaultTimeout(120_000);

const script: string = guestScript();

/** Every way between engine and host: logs, values, calls that succeed and fail, timers, computations, files, failures. */
const programs = [
  "return 1",
  "console.log('a', { b: [1, 2] }); display({ c: 1 }); return { big: 'x'.repeat(1e5) }",
  "let sum = 0; for (let i = 0; i < 20; i++) sum += (await test.echo({ i })).i; return sum",
  "return await Promise.allSettled([test.echo({ i: 1 }), test.fail({}), test.text({}), test.echo.raw({ i: 2 })])",
  "await new Promise((done) => setTimeout(done, 1)); const every = setInterval(() => {}, 1); clearInterval(every); return 2",
  "return [new Intl.NumberFormat('de').format(1.5), require('node:crypto').createHash('md5').update('a').digest('hex')]",
  "return await fs.readFile('./workspace/none', 'utf8').catch((error) => error.code)",
  "setTimeout(() => {}, 60_000); test.echo({ i: 1 }); throw new Error('mine')",
];

interface Made {
  cell: ReusableContext;
  context: QuickJSContext;
  /** The sizes of the host's state for this engine. */
  hostState: () => Record<string, number>;
}

async function makeContext(leak?: (context: QuickJSContext) => QuickJSHandle): Promise<Made> {
  const wasm = await compiledEngine();
  const engine = await createEngine(wasm, 32 * 1_048_576);
  let made: QuickJSContext | undefined;
  const cell = new ReusableContext(engine, await findEndAddress(wasm), (context) => {
    runGuest(context, script);
    leak?.(context);
    made = context;
  });
  if (!made) throw new Error("there is no context");
  const context = made;
  return { cell, context, hostState: () => hostStateOf(context.runtime, engine.quickjs) };
}

/** Private fields of quickjs-emscripten, in which it looks up objects for calls from the engine. */
interface Kept {
  contextMap: Map<unknown, unknown>;
  hostRefs: { groups: Map<unknown, Map<unknown, unknown>>; nextId: number; freelist: unknown[] };
}
interface Callbacks {
  callbacks: { contextCallbacks: Map<unknown, unknown>; runtimeCallbacks: Map<unknown, unknown> };
}

function hostStateOf(runtime: QuickJSRuntime, quickjs: object): Record<string, number> {
  const { contextMap, hostRefs } = runtime as unknown as Kept;
  const { callbacks } = quickjs as Callbacks;
  return {
    contexts: contextMap.size,
    functions: [...hostRefs.groups.values()].reduce((sum, group) => sum + group.size, 0),
    functionsEver: hostRefs.nextId,
    functionsFreed: hostRefs.freelist.length,
    contextCallbacks: callbacks.contextCallbacks.size,
    runtimeCallbacks: callbacks.runtimeCallbacks.size,
  };
}

/** Runs code as the worker and its owner do; `timers` counts the timers that are left at the end. */
async function execute(cell: ReusableContext, code: string): Promise<CodeResult> {
  const functions = ["echo", "text", "fail"].map((name) => ({ name, jsName: name }));
  const { promise, resolve } = Promise.withResolvers<CodeResult>();
  const execution: CodeRun = new CodeRun(cell, {
    run: {
      type: "run",
      source: code,
      check: "error",
      namespaces: [{ name: "test", jsName: "test", functions }],
      mounts: { workspace: "/nowhere/workspace", registry: "/nowhere/registry" },
      limits: someLimits(),
      isKept: false,
      tellsFiles: false,
      deadline: Date.now() + 10_000,
      state: newState(),
    },
    code,
    isKept: false,
    onEnd: ({ result }) => resolve(result),
    send(message) {
      const calls = typeof message === "string" ? (JSON.parse(message) as CallMessage[]) : [];
      if (typeof message !== "string" && message.type === "call") calls.push(message);
      for (const { call, name, args } of calls) {
        const failed = { error: { name: "ToolError", message: "no" } };
        const answer = name === "fail" ? failed : name === "text" ? { text: "plain" } : { json: args };
        queueMicrotask(() => execution.settle({ type: "settle", call, ...answer }));
      }
    },
  });
  execution.start();
  return promise;
}

/** Runs all programs, and restores the memory after each. */
async function round(cell: ReusableContext): Promise<void> {
  for (const code of programs) {
    const result = await execute(cell, code);
    expect(result).toMatchObject(code.includes("throw") ? { ok: false, reason: "threw" } : { ok: true });
    await Bun.sleep(0);
    expect(await cell.renew()).toBe(true);
  }
}

test("after an execution the engine can be freed, because no object is still referenced", async () => {
  for (const code of programs) {
    const { cell } = await makeContext();
    await execute(cell, code);
    await Bun.sleep(0);
    expect(() => cell[Symbol.dispose]()).not.toThrow();
  }
});

test("the check for leaks finds a leaked object", async () => {
  const { cell } = await makeContext((context) => context.newObject());
  await execute(cell, "return 1");
  expect(() => cell[Symbol.dispose]()).toThrow("list_empty(&rt->gc_obj_list)");
});

test("neither the host's state for an engine nor the engine grows", async () => {
  const { cell, context, hostState } = await makeContext();
  cell.remember();
  const counted = () => ({ host: hostState(), engine: context.runtime.dumpMemoryUsage() });
  await round(cell);
  const before = counted();
  for (let rounds = 0; rounds < 10; rounds++) await round(cell);
  expect(counted()).toEqual(before);
  expect(before.host).toMatchObject({ contexts: 1, contextCallbacks: 1, runtimeCallbacks: 1, functionsFreed: 0 });
  cell[Symbol.dispose]();
});

test("the restored memory is the fresh one to the last byte", async () => {
  const { cell } = await makeContext();
  const copies = () => {
    const { statics, heap } = cell.share();
    return [statics.copy, heap.copy];
  };
  const fresh = copies();
  cell.remember();
  await round(cell);
  for (const [index, copy] of copies().entries()) expect(Buffer.compare(copy, fresh[index]!)).toBe(0);
  cell[Symbol.dispose]();
});

test("the engine frees objects itself if its memory is not restored", async () => {
  const { cell, context } = await makeContext();
  const objects = (): number => {
    cell.enter({ stopped: () => false } as HostCalls, someLimits());
    using usage = context.runtime.computeMemoryUsage();
    return context.dump(usage).obj_count;
  };
  const counts: number[] = [];
  for (let index = 0; index < 60; index++) {
    await execute(cell, "return (await test.echo({ list: [1, 2, { a: 1 }] })).list.map((x) => ({ x }))");
    await Bun.sleep(0);
    if (index >= 10) counts.push(objects());
  }
  // Cycles wait for a collection, which comes by itself.
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThan(1_000);
  expect(counts.at(-1)).toBeLessThan((counts[0] ?? 0) + 500);
  cell[Symbol.dispose]();
});

test("a process does not grow with the number of executions", async () => {
  // `bun scripts/bench/growth.ts` measures 5,000 executions after a longer warm-up: less than 20 MB.
  const growth = await measureGrowth(400, 100);
  expect({ ...growth, bounded: growth.growthMb < 60 }).toEqual({ ...growth, bounded: true });
});
