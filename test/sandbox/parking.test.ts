/** Programs that wait for a person leave their worker, and continue in another one as if nothing had happened. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { SavedRun } from "../../src/sandbox/checkpoint-contract.ts";
import type { BindingCall, BindingContext, Outcome } from "../../src/sandbox/contract.ts";
import type { ProgramImage } from "../../src/sandbox/program-image.ts";
import { eventually } from "../support/eventually.ts";
import { answer, Harness, megabyte } from "./harness.ts";

// Many processes run at once on a small machine.
setDefaultTimeout(60_000);

function failed(outcome: Outcome) {
  if (outcome.ok) throw new Error(`it succeeded: ${JSON.stringify(outcome.value)}`);
  return outcome;
}

let harness: Harness;
beforeAll(() => {
  harness = new Harness({ parkAfterMs: 0 });
});
afterAll(() => harness[Symbol.dispose]());

/** Each call waits for a person who answers once the program has left its worker. */
async function asking(call: BindingCall, { signal, clock }: BindingContext) {
  clock?.hold();
  await parked(harness);
  clock?.release();
  return await answer(call, { signal });
}

async function parked({ sandbox }: Harness): Promise<void> {
  await eventually(() => sandbox.parkedPrograms > 0, { everyMs: 1 });
}

/** Keeps the last image of a program, unless `fails` says that it cannot. */
function inMemory(fails = () => false) {
  let pages = new Map<number, { version: number; content: Uint8Array }>();
  let last: ProgramImage | undefined;
  const checkpointer = {
    fromStart: true,
    hasFailed: false,
    saves: 0,
    loads: 0,
    turn: async () => ({ isWhole: last === undefined, end() {} }),
    async save(saved: SavedRun | undefined) {
      checkpointer.saves += 1;
      checkpointer.hasFailed = fails();
      last = checkpointer.hasFailed ? undefined : saved?.image;
      if (!last) return false;
      if (last.isWhole) pages = new Map();
      for (const { pages: numbers, sizes, bytes } of last.batches) {
        let at = 0;
        for (const [index, page] of numbers.entries()) {
          pages.set(page, { version: last.manifest.version, content: new Uint8Array(bytes, at, sizes[index]) });
          at += sizes[index]!;
        }
      }
      return true;
    },
    async load() {
      checkpointer.loads += 1;
      const { manifest } = last!;
      const needed = [...manifest.pages.entries()].filter(([index]) => manifest.versions[index] !== 0);
      const batches = needed.map(([index, page]) => {
        const { version, content } = pages.get(page)!;
        expect(version).toBe(manifest.versions[index]!);
        const bytes = content.slice();
        return { pages: Float64Array.of(page), sizes: Float64Array.of(bytes.length), bytes: bytes.buffer };
      });
      return { ...last!, batches, isWhole: true };
    },
    async answered() {},
  };
  return checkpointer;
}

test("bytes that the host converted are kept, and freed later", async () => {
  const code = `let bytes: Uint8Array | undefined = new TextEncoder().encode("ab€".repeat(10_000));
    ["á", "a"].sort((a, b) => a.localeCompare(b));
    await test.echo({ a: 1 });
    const text = new TextDecoder().decode(bytes);
    bytes = undefined;
    for (let n = 0; n < 200; n++) Buffer.from(text).toString("base64");
    return [text === "ab€".repeat(10_000), ["á", "a"].sort((a, b) => a.localeCompare(b))]`;
  expect(await harness.value(code, { call: asking })).toEqual([true, ["a", "á"]]);
});

describe("a program that is parked with every call", () => {
  test.each<[string, string, unknown]>([
    ["values", "const a = await test.echo({ n: 1 }); const b = await test.echo({ n: 2 }); return [a.n, b.n]", [1, 2]],
    [
      "closures, classes and generators",
      `class Box { #x = 1; add(n) { this.#x += n; return this; } get x() { return this.#x; } }
       function* count() { for (let i = 0; ; i++) yield i; }
       const box = new Box(); const numbers = count(); const all = [];
       for (const n of [1, 2, 3]) { box.add((await test.echo({ n })).n); all.push(numbers.next().value); }
       return [box.x, all]`,
      [7, [0, 1, 2]],
    ],
    ["typed arrays", "const t = new Float64Array([1.5, 2]); await test.echo({}); t[0] += 1; return [...t]", [2.5, 2]],
    [
      "errors",
      "try { await test.fail({}) } catch (error) { return [error.name, error.code] }",
      ["ToolError", "TOOL_FAILED"],
    ],
    [
      "randomness",
      "const a = Math.random(); await test.echo({}); return [a, Math.random()].every((n) => n > 0 && n < 1)",
      true,
    ],
    [
      "time",
      `const [now, date] = [performance.now(), Date.now()]; await test.echo({});
       const [passed, by] = [performance.now() - now, Date.now() - date];
       return passed >= 0 && passed < 30_000 && Math.abs(passed - by) < 50`,
      true,
    ],
    [
      "files",
      `fs.writeFileSync("./workspace/a", "1"); await test.echo({}); fs.appendFileSync("./workspace/a", "2");
       return fs.readFileSync("./workspace/a", "utf8")`,
      "12",
    ],
    [
      "concurrent calls",
      "return (await Promise.all([1, 2, 3].map((n) => test.echo({ n })))).map(({ n }) => n)",
      [1, 2, 3],
    ],
  ])("keeps its %s", async (_, code, value) => {
    expect(await harness.value(code, { call: asking })).toEqual(value);
  });

  test("keeps its logs in order, and its limits count on", async () => {
    const code =
      'for (const n of [1, 2, 3]) { process.stdout.write("a"); await test.echo({ n }); console.log(n) } return 1';
    const outcome = await harness.run(code, { call: asking });
    expect(outcome.logs.map(({ text }) => text)).toEqual(["a1", "a2", "a3"]);
    const over = await harness.run("for (let i = 0; i < 5; i++) await test.echo({})", { call: asking, calls: 3 });
    expect(failed(over).error.message).toContain("3");
  });

  test("explains a failure with the line of the code", async () => {
    const outcome = await harness.run("const a = await test.echo({});\nreturn a.missing.name", { call: asking });
    expect(failed(outcome).error).toMatchObject({ name: "TypeError" });
    expect(JSON.stringify(outcome)).toContain("line");
  });

  test("keeps a large heap", async () => {
    const code = `const big = Array.from({ length: 400_000 }, (_, n) => ({ n, text: "row " + n })); await test.echo({});
      return [big.length, big.at(-1).text]`;
    expect(await harness.value(code, { call: asking, memoryBytes: 256 * megabyte })).toEqual([400_000, "row 399999"]);
  });
});

describe("a parked program", () => {
  const forever = (_: BindingCall, { signal, clock }: BindingContext) => {
    clock?.hold();
    return new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
  };

  test("ends at once when it is cancelled", async () => {
    const cancel = new AbortController();
    const run = harness.run("await test.echo({})", { call: forever, signal: cancel.signal });
    await parked(harness);
    cancel.abort();
    expect(failed(await run).reason).toBe("cancelled");
    expect(harness.sandbox.parkedPrograms).toBe(0);
  });

  test("leaves its worker to others", async () => {
    using narrow = new Harness({ atOnce: 1, inMemory: 1, keptWorkers: 1, parkAfterMs: 0 });
    const cancel = new AbortController();
    const waiting = Array.from({ length: 4 }, () =>
      narrow.run("await test.echo({})", { call: forever, signal: cancel.signal }),
    );
    await eventually(() => narrow.sandbox.parkedPrograms >= waiting.length, { everyMs: 1 });
    expect(await narrow.value("return 2")).toBe(2);
    cancel.abort();
    expect((await Promise.all(waiting)).map((outcome) => failed(outcome).reason)).toEqual(
      waiting.map(() => "cancelled"),
    );
  });

  test("also leaves its worker while a call takes long, if it is kept", async () => {
    const checkpointer = inMemory();
    const call = async (made: BindingCall, { signal }: BindingContext) => {
      await parked(harness);
      return answer(made, { signal });
    };
    expect(
      await harness.value("return [await test.echo({ n: 1 }), await test.echo({ n: 2 })]", { call, checkpointer }),
    ).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test("stays in its worker, and later in memory, if it cannot be saved", async () => {
    const checkpointer = inMemory(() => checkpointer.saves > 1);
    const call = async (made: BindingCall, { signal }: BindingContext) => {
      if (made.name === "echo") await parked(harness);
      return answer(made, { signal });
    };
    expect(
      await harness.value("return [await test.echo({ n: 1 }), await test.echo({ n: 2 })]", { call, checkpointer }),
    ).toEqual([{ n: 1 }, { n: 2 }]);
    expect(checkpointer.loads).toBe(0);
  });

  /** The outcome of a program that waits for an answer until its timer makes another call. */
  function untilTimer(sandbox: Harness, timerMs: number): Promise<unknown> {
    const answered = Promise.withResolvers<void>();
    const call = async (of: BindingCall, { signal, clock }: BindingContext) => {
      if (of.name === "text") answered.resolve();
      else {
        clock?.hold();
        await answered.promise;
        clock?.release();
      }
      return await answer(of, { signal });
    };
    const code = `setTimeout(() => test.text({}), ${timerMs}); return (await test.echo({ n: 1 })).n`;
    return sandbox.value(code, { call });
  }

  test("is not made of a program with a timer that fires soon", async () => {
    using later = new Harness({ parkAfterMs: 100 });
    expect(await untilTimer(later, 150)).toBe(1);
  });

  test("continues when one of its timers fires", async () => {
    expect(await untilTimer(harness, 300)).toBe(1);
  });

  test("may have any number of timers", async () => {
    const code =
      "for (let n = 0; n < 200_000; n++) setTimeout(() => {}, 3_600_000); return (await test.echo({ n: 1 })).n";
    expect(await harness.value(code, { call: asking, memoryBytes: 256 * megabyte })).toBe(1);
  });
});
