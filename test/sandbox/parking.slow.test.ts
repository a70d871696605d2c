/** Random programs have the same outcome whether they are parked with every call or not. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { programsOf } from "../../scripts/harnesses/sandbox-fuzz/programs.ts";
import type { BindingCall, BindingContext, Outcome } from "../../src/sandbox/contract.ts";
import { isTrueWithin } from "../support/eventually.ts";
import { answer, Harness } from "./harness.ts";

setDefaultTimeout(300_000);

const seed = 23;
const programCount = 600;

/** Depends on the time, or on chance. */
const isFree =
  /setTimeout|setInterval|setImmediate|performance|Date|random|randomUUID|getRandomValues|hrtime|uptime|timeout|slow|Temporal|time\(/i;

/** Everything but figures. */
function seen(outcome: Outcome): string {
  const { receipt: _, ...rest } = outcome;
  return JSON.stringify(rest);
}

const isOverLimit = (outcome: Outcome) => !outcome.ok && outcome.reason !== "threw";

test("random programs that are parked with every call have the outcome of those that are not", async () => {
  using plain = new Harness();
  using parking = new Harness({ parkAfterMs: 0 });
  let parks = 0;
  const asking = async (call: BindingCall, { signal, clock }: BindingContext) => {
    clock?.hold();
    await isTrueWithin(200, () => parking.sandbox.parkedPrograms > 0);
    parks += parking.sandbox.parkedPrograms;
    clock?.release();
    return await answer(call, { signal });
  };
  const programs = await programsOf(seed);
  let compared = 0;
  for (let index = 0; index < programCount; index++) {
    const program = programs(index);
    // Generated programs have one statement on each line; the others are variants of handwritten ones.
    if (isFree.test(program) || !program.startsWith("let a: any")) continue;
    const source = program.replaceAll(/^try \{/gm, "await test.echo({});\ntry {");
    const limits = { timeoutMs: 2_000, cpuMs: 500 };
    const first = await plain.run(source, limits);
    // A program that runs into a limit ends anywhere. One that is near it may do so only once on a busy machine.
    if (isOverLimit(first)) continue;
    const outcome = await parking.run(source, { ...limits, call: asking });
    if (isOverLimit(outcome)) continue;
    expect({ index, seen: seen(outcome) }).toEqual({ index, seen: seen(first) });
    compared += 1;
  }
  console.error(`${compared} programs compared, parked ${parks} times`);
  expect(compared).toBeGreaterThan(15);
  expect(parks).toBeGreaterThan(60);
});
