/** Sixty random programs with a fixed seed, and a test that the fuzzer finds broken promises. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Random } from "../../../scripts/harnesses/random.ts";
import { fuzz } from "../../../scripts/harnesses/sandbox-fuzz/fuzz.ts";
import { grammarProgram } from "../../../scripts/harnesses/sandbox-fuzz/grammar.ts";
import { brokenPromises, type Execution } from "../../../scripts/harnesses/sandbox-fuzz/invariants.ts";
import { minimised } from "../../../scripts/harnesses/sandbox-fuzz/minimise.ts";
import { programsOf } from "../../../scripts/harnesses/sandbox-fuzz/programs.ts";
import { transpile } from "../../../src/sandbox/code/transpile.ts";
import type { Outcome } from "../../../src/sandbox/contract.ts";
import type { RunOptions } from "../../../src/sandbox/main-thread/program-run.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { someLimits } from "../../sandbox/some-limits.ts";

// On an idle machine, all tests take about 20 seconds.
setDefaultTimeout(300_000);

const indexes = Array.from({ length: 200 }, (_, index) => index);

test("programs of a fixed seed break no rule", async () => {
  const { failures, ended } = await fuzz({ programs: await programsOf(600), first: 0, executions: 60 });
  expect(failures).toEqual([]);
  // Some programs succeed, some are refused, some reach a limit. On a busy machine, those that would throw reach it first.
  expect(Object.keys(ended)).toEqual(expect.arrayContaining(["value", "check", "timeout"]));
});

describe("the generator", () => {
  test("returns the same programs for the same seed, and others for another", async () => {
    const [first, same, other] = [await programsOf(7), await programsOf(7), await programsOf(8)];
    expect(indexes.map(first)).toEqual(indexes.toReversed().map(same).toReversed());
    const equal = indexes.filter((index) => first(index) === other(index));
    expect(equal.length).toBeLessThan(5);
    expect(new Set(indexes.map(first)).size).toBeGreaterThan(190);
  });

  test("writes mostly TypeScript", async () => {
    const parsed = await Promise.all(
      indexes.map((index) =>
        transpile(grammarProgram(new Random(1, index))).then(
          () => 1,
          () => 0,
        ),
      ),
    );
    expect(parsed.filter((each) => each === 1).length / indexes.length).toBeGreaterThanOrEqual(0.7);
  });
});

type Break = (sandbox: Sandbox, source: string, options: RunOptions) => Promise<Outcome>;

/** A sandbox that breaks a rule for one program. */
function breaking(breaks: Break): Sandbox {
  const sandbox = new Sandbox();
  const run: Sandbox["run"] = (source, options) =>
    source.includes("BREAK") ? breaks(sandbox, source, options) : Sandbox.prototype.run.call(sandbox, source, options);
  return Object.defineProperty(sandbox, "run", { value: run });
}

const run = (sandbox: Sandbox, source: string, options: RunOptions) =>
  Sandbox.prototype.run.call(sandbox, source, options);

/** A change of the outcome. */
const changed =
  (change: (outcome: Outcome) => object): Break =>
  async (sandbox, source, options) => {
    const outcome = await run(sandbox, source, options);
    return { ...outcome, ...change(outcome) } as Outcome;
  };

const failed = (reason: string, message: string) => ({ ok: false, reason, error: { name: "E", message, stack: "" } });

describe("the fuzzer finds", () => {
  test.each<[string, Break, string]>([
    ["a path of the host", changed(() => ({ value: process.cwd() })), "leaked"],
    ["a frame of the host", changed(() => failed("threw", "at run (sandbox.ts:1:1)")), "leaked"],
    ["a crash", changed(() => failed("crashed", "The engine broke")), "crashed"],
    ["an unknown reason", changed(() => failed("tired", "")), "the reason is not of the contract"],
    ["an outcome that is not JSON", changed(() => ({ value: 1n })), "the outcome is no JSON"],
    ["an outcome without a receipt", changed(() => ({ receipt: undefined })), "there is no receipt"],
    ["a rejection", () => Promise.reject(new RangeError("deep")), "rejected: RangeError: deep"],
    [
      "an exception",
      () => {
        throw new Error("thrown");
      },
      "rejected: Error: thrown",
    ],
    ["an outcome that never arrives", () => new Promise(() => {}), "hung"],
    [
      "an unhandled error",
      async (...all) => {
        // As Bun reports it, which the test runner would receive first.
        process.emit("unhandledRejection", new Error("stray"), Promise.resolve());
        return run(...all);
      },
      "an error of the host: Error: stray",
    ],
    [
      "a call that is not cancelled",
      async (sandbox, source, options) => {
        const outcome = await run(sandbox, source, options);
        const { signal } = new AbortController();
        void options.bindings.call(
          { namespace: "test", name: "slow", group: "tools", args: { ms: 40 }, raw: false },
          { signal },
        );
        return outcome;
      },
      "a call went on",
    ],
    [
      "a call after the end",
      async (sandbox, source, options) => {
        const outcome = await run(sandbox, source, options);
        const { signal } = new AbortController();
        setTimeout(
          () =>
            options.bindings.call(
              { namespace: "test", name: "echo", group: "tools", args: {}, raw: false },
              { signal },
            ),
          1,
        );
        return outcome;
      },
      "a call after the end",
    ],
    [
      "a file beside the workspace",
      async (sandbox, source, options) => {
        writeFileSync(join(dirname(options.mounts.workspace), "beside"), "");
        return run(sandbox, source, options);
      },
      "a strange file: beside",
    ],
  ])("%s", async (_, breaks, problem) => {
    const { failures } = await fuzz({
      programs: () => "return 'BREAK'",
      first: 1,
      executions: 1,
      // Only an outcome that never arrives is worth giving up for.
      giveUpMs: problem === "hung" ? 1_000 : 50_000,
      makeSandbox: () => breaking(breaks),
    });
    expect(failures.length).toBeGreaterThan(0);
    for (const failure of failures) {
      expect(failure).toMatchObject({ index: 1, problem: expect.stringContaining(problem) });
    }
  });

  test.each([
    ["a global that stays", "globalThis.left = 1;"],
    ["a prototype that stays changed", "Array.prototype.left = 1;"],
    ["a flag that stays changed", "Object.freeze(JSON);"],
    ["a line of another execution", "console.log('left');"],
    ["a call of another execution", "test.echo({});"],
    ["a wrong answer", "Array.prototype.sort = function () { return this };"],
  ])("in the next execution, %s", async (_, left) => {
    // As if the first execution had left it: the probe runs after it.
    const leaves = () => {
      const sandbox = new Sandbox();
      const afterLeft: Sandbox["run"] = (source, options) =>
        run(sandbox, source.includes("BREAK") ? source : left + source, options);
      return Object.defineProperty(sandbox, "run", { value: afterLeft });
    };
    const programs = () => "return 'BREAK'";
    const { failures } = await fuzz({ programs, first: 1, executions: 1, makeSandbox: leaves });
    expect(failures.map(({ problem }) => problem.split(":")[0])).toEqual(["the next execution", "the next execution"]);
  });

  test("late and excessive outcomes", async () => {
    using sandbox = new Sandbox();
    const limits = someLimits({ timeoutMs: 200, memoryBytes: 2 ** 24 });
    const mounts = { workspace: "/nowhere", registry: "/nowhere" };
    const bindings = { namespaces: [], call: async () => ({ json: "1" }) };
    const outcome = await sandbox.run("return 1", { bindings, limits, mounts, check: "off" });
    const execution: Execution = { program: "return 1", outcome, tookMs: 400, limits, openCalls: 0 };
    expect(brokenPromises(execution, [])).toEqual([]);
    expect(brokenPromises({ ...execution, tookMs: 40_000 }, [])).toEqual(["late: it took 40000 ms"]);
    const little = { ...execution, limits: { ...limits, memoryBytes: 10 } };
    expect(brokenPromises(little, [])).toEqual([expect.stringMatching(/^too much: an outcome of \d+ characters$/)]);
  });
});

test("minimised makes a failing program smaller", async () => {
  const program = ["let a = 1;", "let b = 2;", "if (a) { b = 3; break_it(); a = 4; }", "return b;"].join("\n");
  expect(await minimised(program, async (candidate) => candidate.includes("break_it()"))).toBe("break_it();");
});
