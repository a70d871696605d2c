/** What the protection of data and definitions costs: the same work with locks, labels and rules, and without them. */
import { everything } from "../../test/support/servers.ts";
import { startHost } from "./host.ts";
import { type Contestants, inTurn, median, type Times, warmUp } from "./measure.ts";
import { milliseconds, stopwatch } from "./programs.ts";
import { rowOf, within } from "./report.ts";
import type { Measure } from "./section.ts";
import { untilInitialized } from "./startup.ts";

const calls = 100;
const executions = 40;
/** A pair takes 20 s. */
const maxPairs = 30;
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

type Found = { ours: number; without: number };

export const measureProtection: Measure = async ({ binary, folder, rounds }) => {
  const protectedFolder = folder({ everything: { ...everything(), ...labelled } }, { policy: { rules } });
  const openFolder = folder({ everything: { ...everything(), labels: { "*": [] }, definitions: "trust" } });
  const inARow: Times = { ours: [], without: [] };
  const atOnce: Times = { ours: [], without: [] };
  for (let pair = 0; pair < rounds(maxPairs).least; pair++) {
    const found = await timesOfPair({ binary, protectedFolder, openFolder }, pair % 2 === 0);
    for (const name of ["ours", "without"] as const) {
      inARow[name]!.push(found.oneByOne[name]);
      atOnce[name]!.push(found.together[name]);
    }
  }
  const starts = await inTurn(rounds(), {
    ours: () => untilInitialized(binary, protectedFolder),
    without: () => untilInitialized(binary, openFolder),
  });
  const beside = (what: string, times: Times) => within(rowOf(what, times), "without", 1.03);
  return {
    rows: [
      beside(`${calls} calls one after the other`, inARow),
      beside(`${calls} calls together`, atOnce),
      beside("serve, start to initialize answered", starts),
    ],
    notes: [
      "With protection, every answer is labelled as untrusted and private, definitions are locked, and three rules look at every call. Without, there are no labels and no rules, and definitions are trusted.",
      `Two processes of one program differ, so each round has two new ones; its times are the medians of ${executions} executions of each, in turn.`,
    ],
  };
};

/**
 * The medians of both, from two new processes. Processes of the same program differ by up to 5 %, so rounds in the same two would tell little. Pairs
 * differ in which one starts first.
 */
async function timesOfPair(
  { binary, protectedFolder, openFolder }: { binary: string; protectedFolder: string; openFolder: string },
  oursFirst: boolean,
): Promise<{ oneByOne: Found; together: Found }> {
  const startOurs = () => startHost(binary, protectedFolder);
  const first = oursFirst ? await startOurs() : undefined;
  await using without = await startHost(binary, openFolder);
  await using ours = first ?? (await startOurs());
  const times = async (code: string): Promise<Found> => {
    const contestants: Contestants = {
      ours: async () => milliseconds(await ours.execute(code)),
      without: async () => milliseconds(await without.execute(code)),
    };
    await warmUp(contestants, warmUpMs);
    const found = await inTurn(executions, contestants, () => 1);
    return { ours: median(found.ours), without: median(found["without"]!) };
  };
  return { oneByOne: await times(oneByOne), together: await times(together) };
}
