/** What the protection of data and definitions costs: the same work with locks, labels and rules, and without them. */
import { everything } from "../../test/support/servers.ts";
import { startHost } from "./host.ts";
import { type Contestants, inTurn, meanOf, warmUp } from "./measure.ts";
import { milliseconds, stopwatch } from "./programs.ts";
import { rowOf, within } from "./report.ts";
import type { Measure } from "./section.ts";
import { untilInitialized } from "./startup.ts";

const calls = 100;
const inARow = 5;
const warmUpMs = 3_000;

/** Each answer is both, so that each call compares, keeps and checks what it can. */
const labelled = { labels: { "*": ["untrusted", "private"] }, definitions: "lock" };
const rules = [
  'deny when tool == "everything.get-env"',
  'deny when tool == "everything.echo" && args.message.startsWith("password")',
  'confirm when "public" in labels && "private" in reads && agent.name != "bench"',
];

const oneByOne = stopwatch(`for (let i = 0; i < ${calls}; i++) await everything.echo({ message: "x" });`);
const together = stopwatch(
  `await Promise.all(Array.from({ length: ${calls} }, () => everything.echo({ message: "x" })));`,
);

export const measureProtection: Measure = async ({ binary, folder, rounds }) => {
  const protectedFolder = folder({ everything: { ...everything(), ...labelled } }, { policy: { rules } });
  const openFolder = folder({ everything: { ...everything(), labels: { "*": [] }, definitions: "trust" } });
  await using on = await startHost(binary, protectedFolder);
  await using off = await startHost(binary, openFolder);
  const beside = async (what: string, code: string) => {
    const contestants: Contestants = {
      ours: async () => milliseconds(await on.execute(code)),
      without: async () => milliseconds(await off.execute(code)),
    };
    await warmUp(contestants, warmUpMs);
    const means = Object.entries(contestants).map(([name, run]) => [name, () => meanOf(inARow, run)]);
    return within(rowOf(what, await inTurn(rounds(), Object.fromEntries(means), () => 1)), "without", 1.03);
  };
  const starts = await inTurn(rounds(), {
    ours: () => untilInitialized(binary, protectedFolder),
    without: () => untilInitialized(binary, openFolder),
  });
  return {
    rows: [
      await beside(`${calls} calls one after the other`, oneByOne),
      await beside(`${calls} calls together`, together),
      within(rowOf("serve, start to initialize answered", starts), "without", 1.03),
    ],
    notes: [
      "With protection, every answer is labelled as untrusted and private, definitions are locked, and three rules look at every call. Without, there are no labels and no rules, and definitions are trusted.",
      `Each time is the mean of ${inARow} executions in a row.`,
    ],
  };
};
