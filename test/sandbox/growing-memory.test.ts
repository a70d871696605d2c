/** The memory of a program begins small, grows up to the limit while the program runs, and says why it does not grow further. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { EngineMemory, NoMemoryError } from "../../src/sandbox/engine/engine-memory.ts";
import { shareMemory } from "../../src/sandbox/engine/share-memory.ts";
import { firstMemoryBytes } from "../../src/sandbox/limits.ts";
import { eventually } from "../support/eventually.ts";
import { answer, Harness, megabyte } from "./harness.ts";

setDefaultTimeout(60_000);

const wasmPagesOf = (megabytes: number) => (megabytes * megabyte) / 65_536;

describe("a memory", () => {
  test("begins with its limit if that is low, and otherwise with a part of it", () => {
    expect(new EngineMemory(16 * megabyte).bytes.length).toBe(16 * megabyte);
    const { bytes, maxBytes } = new EngineMemory(256 * megabyte);
    expect([bytes.length, maxBytes]).toEqual([firstMemoryBytes, 256 * megabyte]);
    expect(bytes.length).toBeLessThan(maxBytes);
  });

  test("keeps its contents where they are when it grows, and shows all of it", () => {
    const memory = new EngineMemory(256 * megabyte);
    const { bytes } = memory;
    bytes[5] = 7;
    expect(memory.wasm.grow(wasmPagesOf(84))).toBe(wasmPagesOf(16));
    expect([memory.bytes.length, memory.view.byteLength]).toEqual([100 * megabyte, 100 * megabyte]);
    expect(memory.view.getUint8(5)).toBe(7);
    memory.view.setUint8(6, 8);
    // Nothing was copied.
    expect(bytes[6]).toBe(8);
  });

  test("gets all of its limit with the last step, and no more", () => {
    const memory = new EngineMemory(256 * megabyte);
    memory.wasm.grow(wasmPagesOf(200));
    expect(memory.bytes.length).toBe(256 * megabyte);
    expect(() => memory.wasm.grow(1)).toThrow(RangeError);
    expect(memory.limitBytes).toBe(256 * megabyte);
  });

  test("is one that the program imports with a maximum", () => {
    const head = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
    const importing = (...limits: number[]) =>
      Uint8Array.of(...head, 2, 6 + limits.length, 1, 1, 0x65, 1, 0x6d, 2, ...limits);
    const shared = shareMemory(importing(1, 0x80, 2, 0x80, 0x80, 2));
    expect(shared).toEqual(importing(3, 0x80, 2, 0x80, 0x80, 2));
    expect(() => shareMemory(importing(0, 1))).toThrow("has no maximum");
    expect(() => shareMemory(Uint8Array.from(head))).toThrow("imports no memory");
  });
});

describe("a program that needs more than it begins with", () => {
  let harness: Harness;
  beforeAll(() => {
    harness = new Harness({ parkAfterMs: 0 });
  });
  afterAll(() => harness[Symbol.dispose]());
  const memoryBytes = 256 * megabyte;
  const taking = (megabytes: number) =>
    `const all = []; for (let n = 0; n < ${megabytes}; n++) all.push(new Uint8Array(${megabyte}).fill(n));`;

  test("gets nearly all of its limit", async () => {
    expect(await harness.value(`${taking(245)} return all.length`, { memoryBytes })).toBe(245);
    const outcome = await harness.run(`${taking(257)} return all.length`, { memoryBytes });
    expect(outcome).toMatchObject({
      reason: "memory",
      error: { message: "The code ran out of memory: the limit is 256 MB" },
    });
  });

  test.each([
    ["calls tools", "const { n } = await test.echo({ n: 'ü'.repeat(100_000) }); return n.length", 100_000],
    [
      "gets many answers together",
      "return (await Promise.all([1, 2, 3].map((n) => test.echo({ n })))).map(({ n }) => n)",
      [1, 2, 3],
    ],
    [
      "converts bytes",
      "return new TextDecoder().decode(new TextEncoder().encode('ab€'.repeat(50_000))).length",
      150_000,
    ],
    [
      "runs jobs",
      "let sum = 0; for (let n = 0; n < 3_000; n++) sum += await Promise.resolve(n % 2); return sum",
      1_500,
    ],
    ["waits for timers", "await sleep(20); return 'later'", "later"],
    ["logs", "console.log('x'.repeat(5_000)); return 1", 1],
    ["throws and catches", "try { JSON.parse('{') } catch (error) { return error.name }", "SyntaxError"],
  ])("%s when it has grown", async (_, code, expected) => {
    expect(await harness.value(`${taking(100)} ${code}`, { memoryBytes })).toEqual(expected);
  });

  test.each([
    [
      "in a job",
      "await Promise.resolve().then(() => all.push(...Array.from({ length: 80 }, () => new Uint8Array(1_048_576))));",
    ],
    ["with answers", "for (let n = 0; n < 40; n++) all.push((await test.echo({ n: String(n).padEnd(3_000_000) })).n);"],
    [
      "with bytes that the host converts",
      "for (let n = 0; n < 10; n++) all.push(new TextEncoder().encode('z'.repeat(9_000_000)));",
    ],
  ])("grows %s", async (_, code) => {
    expect(await harness.value(`const all: unknown[] = []; ${code} return all.length > 0`, { memoryBytes })).toBe(true);
  });

  test("continues after it was parked", async () => {
    const parked = Promise.withResolvers<void>();
    const running = harness.value(
      `${taking(90)} await test.echo({}); return [all.length, all[89][5], await test.echo({ n: 1 })]`,
      {
        memoryBytes,
        call: async (call, context) => {
          context.clock?.hold();
          await eventually(() => harness.sandbox.parkedPrograms > 0);
          context.clock?.release();
          parked.resolve();
          return await answer(call, context);
        },
      },
    );
    await parked.promise;
    expect(await running).toEqual([90, 89, { n: 1 }]);
  });
});

describe("when this process has no more memory", () => {
  /** All memory that the engine of Bun gives. */
  const taken: WebAssembly.Memory[] = [];

  function takeAllMemory(): void {
    for (let megabytes = 4_096; megabytes >= 1; ) {
      try {
        taken.push(new WebAssembly.Memory({ initial: wasmPagesOf(megabytes) }));
      } catch {
        megabytes /= 2;
      }
    }
  }

  async function giveItBack(): Promise<void> {
    taken.splice(0);
    await eventually(() => {
      Bun.gc(true);
      try {
        return new WebAssembly.Memory({ initial: wasmPagesOf(1_024) }) !== undefined;
      } catch {
        return false;
      }
    });
  }
  afterEach(giveItBack);

  test("a memory is not made, and one that exists keeps its size", () => {
    const memory = new EngineMemory(256 * megabyte);
    takeAllMemory();
    expect(() => new EngineMemory(256 * megabyte)).toThrow(NoMemoryError);
    expect(() => memory.wasm.grow(wasmPagesOf(100))).toThrow();
    expect(memory.limitBytes).toBe(16 * megabyte);
  });

  test("a memory that was refused more can grow later", async () => {
    const memory = new EngineMemory(256 * megabyte);
    takeAllMemory();
    expect(() => memory.wasm.grow(wasmPagesOf(4))).toThrow();
    await giveItBack();
    memory.wasm.grow(wasmPagesOf(4));
    expect(memory.limitBytes).toBe(256 * megabyte);
  });

  test("a program that grows ends with the reason, and the next one runs", async () => {
    using harness = new Harness();
    const code = `await test.echo({}); const all = []; for (let n = 0; n < 200; n++) all.push(new Uint8Array(${megabyte}));`;
    const outcome = await harness.run(code, {
      memoryBytes: 256 * megabyte,
      call: async (call, context) => {
        takeAllMemory();
        return await answer(call, context);
      },
    });
    expect(outcome).toMatchObject({ ok: false, reason: "memory" });
    expect(outcome).toMatchObject({
      error: { message: "The code ran out of memory: this machine has no more for it, although the limit is 256 MB" },
    });
    await giveItBack();
    expect(await harness.value(`${code} return all.length`, { memoryBytes: 256 * megabyte })).toBe(200);
  });

  test("a program does not grow while this process takes too much memory", async () => {
    using harness = new Harness({ growBelowBytes: 0 });
    const taking = (megabytes: number) =>
      harness.run(`return new Uint8Array(${megabytes} * ${megabyte}).length`, { memoryBytes: 256 * megabyte });
    expect(await taking(4)).toMatchObject({ ok: true });
    expect(await taking(40)).toMatchObject({
      error: { message: "The code ran out of memory: this machine has no more for it, although the limit is 256 MB" },
    });
  });

  test("a program that catches the error ends as it wants, and the next one can have its limit", async () => {
    using harness = new Harness({ keptWorkers: 1 });
    const taking = `const all = []; for (let n = 0; n < 100; n++) all.push(new Uint8Array(${megabyte}));`;
    const outcome = await harness.run(
      `await test.echo({}); try { ${taking} return "taken" } catch (error) { return error.message }`,
      {
        memoryBytes: 256 * megabyte,
        call: async (call, context) => {
          takeAllMemory();
          return await answer(call, context);
        },
      },
    );
    expect(outcome).toMatchObject({ ok: true, value: "out of memory" });
    await giveItBack();
    expect(await harness.value(`${taking} return all.length`, { memoryBytes: 256 * megabyte })).toBe(100);
  });

  test("a program that cannot continue says so", async () => {
    using harness = new Harness({ parkAfterMs: 0 });
    const code = `const all = []; for (let n = 0; n < 90; n++) all.push(new Uint8Array(${megabyte}).fill(n)); await test.echo({});`;
    const outcome = await harness.run(code, {
      memoryBytes: 256 * megabyte,
      call: async (call, context) => {
        context.clock?.hold();
        await eventually(() => harness.sandbox.parkedPrograms > 0);
        takeAllMemory();
        context.clock?.release();
        return await answer(call, context);
      },
    });
    expect(outcome).toMatchObject({
      ok: false,
      reason: "memory",
      error: { message: "This machine has no memory to continue this program" },
    });
    await giveItBack();
    expect(await harness.value("return 1")).toBe(1);
  });
});
