/** Every hostile program has its expected outcome, reveals nothing of the host, and does not affect the next one. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { homedir } from "node:os";
import { workersFromSource } from "../support/bundled-workers.ts";
import { Harness, megabyte } from "./harness.ts";
import { hostile } from "./hostile.ts";

setDefaultTimeout(120_000);

const fromSource = workersFromSource();
afterAll(() => fromSource[Symbol.dispose]());
const harness = new Harness();
// Programs that the check would refuse must be harmless too.
harness.check = "off";
afterAll(() => harness[Symbol.dispose]());

/** Enough time for programs that reach another limit, and little for the others. */
const timeoutMs: Record<string, number> = { depth: 110_000, floods: 300, memory: 110_000 };
const memoryBytes: Record<string, number> = { memory: 32 * megabyte };
/** The time that JSON.stringify takes for a deep value grows with the square of the depth, which the stack limits. */
const stackBytes: Record<string, number> = { depth: 131_072 };

/** Text of this process that must not appear in any answer. */
const secrets = [
  process.cwd(),
  homedir(),
  process.execPath,
  harness.mounts.workspace,
  "s3cret",
  "node_modules",
  "bunfs",
];

describe.each(Object.entries(hostile))("hostile programs of the kind %s", (group, rows) => {
  test.each(rows)("have the expected outcome: %s", async (_, code, expected) => {
    const outcome = await harness.run(code, {
      timeoutMs: timeoutMs[group] ?? 30_000,
      memoryBytes: memoryBytes[group] ?? 64 * megabyte,
      stackBytes: stackBytes[group] ?? 262_144,
    });
    if ("value" in expected)
      expect(outcome.ok ? { value: outcome.value } : outcome.error).toEqual({ value: expected.value } as never);
    else {
      const { reason, message } = expected;
      expect(outcome).toMatchObject({ ok: false, reason, ...(message === undefined ? {} : { error: { message } }) });
    }
    const said = JSON.stringify(outcome);
    for (const secret of secrets) expect(said).not.toContain(secret);
    expect(await harness.value("return [1, 2].map((n) => n * 2).concat((await test.echo({ a: 6 })).a)")).toEqual([
      2, 4, 6,
    ]);
  });
});

test("hostile programs are numerous", () => {
  expect(Object.values(hostile).flat().length).toBeGreaterThanOrEqual(150);
});
