/** Parsing any program takes limited time in its own worker, and does not delay others. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Random } from "../../scripts/harnesses/random.ts";
import { hostileProgram, hostileSources } from "../../scripts/harnesses/sandbox-fuzz/hostile-sources.ts";
import type { Outcome } from "../../src/sandbox/contract.ts";
import { Harness } from "./harness.ts";

setDefaultTimeout(60_000);

const harness = new Harness();
afterAll(() => harness[Symbol.dispose]());

const timeoutMs = 250;

/** Runs a program and, while it is parsed, another one; returns both results. */
async function besides(source: string): Promise<{ outcome: Outcome; other: unknown; otherFirst: boolean }> {
  let ended = false;
  const hostile = harness.run(source, { timeoutMs, cpuMs: timeoutMs }).finally(() => {
    ended = true;
  });
  const other = await harness.value("return 6 * 7");
  const otherFirst = !ended;
  return { outcome: await hostile, other, otherFirst };
}

const failed = (outcome: Outcome) => {
  if (outcome.ok) throw new Error(`it succeeded: ${JSON.stringify(outcome.value)?.slice(0, 100)}`);
  return outcome;
};

/** 38 levels take 2^38 attempts. */
const endless = hostileSources.find(({ name }) => name === "38 arrow defaults")?.make(1_000) ?? "";

describe("a program that takes forever to parse", () => {
  test("can be as short as a tweet", () => {
    expect(endless.length).toBeLessThan(400);
  });

  test("ends with its time limit, and the error says that it did not run", async () => {
    // The worker has loaded everything it needs for parsing.
    for (let time = 0; time < 4; time++) await harness.value("const a: number = 1; return a");
    const { reason, error } = failed(await harness.run(endless, { timeoutMs: 2_000 }));
    expect({ reason, ...error }).toEqual({
      reason: "timeout",
      name: "TimeoutError",
      message: "The code could not be parsed as TypeScript within 2 s and was not run",
      hint: "Nested or repeated code takes the parser too long: write it in smaller pieces, or without types.",
      stack: "",
    });
  });

  test.each(["38 arrow defaults", "type assertions"])(
    "is refused after five seconds or 512 MB, and before its parser leaves a gigabyte of garbage: %s",
    async (name) => {
      const source = hostileSources.find((each) => each.name === name)?.make(400) ?? "";
      const startMb = process.memoryUsage.rss() / 1_048_576;
      let mostMb = 0;
      const looks = setInterval(() => {
        mostMb = Math.max(mostMb, process.memoryUsage.rss() / 1_048_576 - startMb);
      }, 20);
      const { reason, error } = failed(await harness.run(source, { timeoutMs: 600_000, memoryBytes: 256 * 1_048_576 }));
      clearInterval(looks);
      expect({ reason, code: error.code, message: error.message }).toEqual({
        reason: "check",
        code: "CODE_UNREADABLE",
        message: expect.stringMatching(
          /^The code could not be parsed as TypeScript (?:within 5 s|with 512 MB of memory) and was not run$/,
        ),
      });
      expect(mostMb).toBeLessThan(900);
    },
  );

  test("is cancelled at once", async () => {
    const cancel = new AbortController();
    const running = harness.run(endless, { timeoutMs: 600_000, signal: cancel.signal });
    await Bun.sleep(300);
    cancel.abort();
    expect(failed(await running).reason).toBe("cancelled");
  });

  test("does not delay others, even if many are parsed concurrently", async () => {
    const many = Array.from({ length: 8 }, () => harness.run(endless, { timeoutMs }));
    expect(await harness.value("const n: number = 20; return n + 1")).toBe(21);
    // Together they may reach the limit of memory first.
    for (const outcome of await Promise.all(many)) expect(["timeout", "check"]).toContain(failed(outcome).reason);
  });

  test("may be a skill, whose import then ends with the execution's time limit", async () => {
    const write = `await fs.mkdir("./workspace/skills", { recursive: true });
      await fs.writeFile("./workspace/skills/endless.ts", ${JSON.stringify(endless)});`;
    await harness.run(write);
    const importing = harness.run('import "./skills/endless"; return 1', { timeoutMs });
    expect(await harness.value("return 2")).toBe(2);
    expect(failed(await importing).reason).toBe("timeout");
  });

  test("does not delay the end of the sandbox", async () => {
    using other = new Harness();
    void other.run(endless, { timeoutMs: 600_000 });
    await Bun.sleep(300);
  });
});

describe.each([400, 6_000])("a hostile program of %i characters", (characters) => {
  test.each(hostileSources.map((each) => [each.name, each] as const))("ends as an outcome: %s", async (_, { make }) => {
    const { outcome, other } = await besides(make(characters));
    expect(other).toBe(42);
    if (!outcome.ok) expect(outcome.error.message).not.toBe("");
    expect(["ok", "threw", "check", "timeout", "cpu", "memory", "stack"]).toContain(outcome.ok ? "ok" : outcome.reason);
  });
});

test("random nestings end as outcomes", async () => {
  for (let index = 0; index < 40; index++) {
    const source = hostileProgram(new Random(7, index));
    const outcome = await harness.run(source, { timeoutMs: 500, cpuMs: 500 });
    expect([index, outcome.ok || outcome.reason]).not.toEqual([index, "crashed"]);
  }
});

describe("repeated code is parsed in linear time:", () => {
  const make = (name: string, characters: number) =>
    hostileSources.find((each) => each.name === name)?.make(characters) ?? "";

  test.each(["namespaces", "dotted namespaces", "sorts", "throws", "enums", "declares", "interfaces"])(
    "%s",
    async (name) => {
      // The result of the code does not matter: it only has to be parsed.
      const outcome = await harness.run(`return "read";\n${make(name, 60_000)}`, { timeoutMs: 20_000 });
      expect(outcome.ok ? outcome.value : outcome.error.message).toBe("read");
    },
  );

  test.each(["line breaks", "spaces", "fences", "fences with words", "regular expressions", "parentheses, not closed"])(
    "%s, which are not a program",
    async (name) => {
      expect(failed(await harness.run(make(name, 140_000), { timeoutMs: 20_000 })).reason).toBe("check");
    },
  );

  test.each(["wrong calls", "wrong calls with types", "promises as values"])("%s, which are listed", async (name) => {
    const { reason, error } = failed(await harness.run(make(name, 60_000), { timeoutMs: 20_000 }));
    expect(reason).toBe("check");
    expect(error.message).toMatch(/^\d+ mistakes; nothing was run:/);
  });
});

describe("a program that is too large", () => {
  const data = (count: number) => `return [${"1,".repeat(count)}].length`;

  test("is refused by its number of tokens, with the next step", async () => {
    const { reason, error } = failed(await harness.run(data(100_000)));
    expect({ reason, code: error.code, message: error.message }).toEqual({
      reason: "check",
      code: "CODE_TOO_LONG",
      message: "The code has 200005 tokens; the limit is 150000",
    });
    expect(error.hint).toContain("get it from a tool");
  });

  test("is one of half a million characters; a long text has few tokens", async () => {
    const text = "x".repeat(490_000);
    expect(await harness.value(`return ${JSON.stringify(text)}.length`)).toBe(490_000);
    const { error } = failed(await harness.run(`return ${JSON.stringify(text + text)}`));
    expect(error.message).toBe("The code has 980009 characters; the limit is 500000");
  });

  test("is not a table of 70,000 numbers", async () => {
    expect(await harness.value(data(70_000))).toBe(70_000);
  });
});
