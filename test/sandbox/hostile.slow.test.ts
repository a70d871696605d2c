/** Every hostile program has the outcome that it has to have, says nothing of the host, and leaves the next one alone. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { homedir } from "node:os";
import { Harness, megabyte } from "./harness.ts";
import { hostile } from "./hostile.ts";

setDefaultTimeout(60_000);

const harness = new Harness();
// What the check would refuse has to be harmless as well.
harness.check = "off";
afterAll(() => harness[Symbol.dispose]());

/** Time enough for what is to run into another limit, and little for what has no other. */
const timeoutMs: Record<string, number> = { floods: 300 };
const memoryBytes: Record<string, number> = { memory: 32 * megabyte };

/** Text of this process that must not be in any answer. */
const secrets = [
  process.cwd(),
  homedir(),
  process.execPath,
  harness.mounts.workspace,
  "s3cret",
  "node_modules",
  "bunfs",
];

describe.each(Object.entries(hostile))("%s", (group, rows) => {
  test.each(rows)("%s", async (_, code, expected) => {
    const outcome = await harness.run(code, {
      timeoutMs: timeoutMs[group] ?? 30_000,
      memoryBytes: memoryBytes[group] ?? 64 * megabyte,
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

test("there are enough of them", () => {
  expect(Object.values(hostile).flat().length).toBeGreaterThanOrEqual(150);
});
