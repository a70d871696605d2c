/** What the protection of data and definitions costs: the same work with locks, labels and rules, and without them. */
import { everything } from "../../test/support/servers.ts";
import { type Host, startHost } from "./host.ts";
import { type Contestant, type Contestants, inTurn, median, type Times, warmUp } from "./measure.ts";
import { milliseconds, stopwatch } from "./programs.ts";
import { rowOf, within } from "./report.ts";
import type { Measure } from "./section.ts";
import { untilInitialized } from "./startup.ts";

const calls = 100;
const executions = 40;
/** A round takes 20 s. */
const maxRounds = 30;
const warmUpMs = 3_000;

/** Each answer is both, so that each call compares, keeps and checks what it can. */
const labelled = { labels: { "*": ["untrusted", "private"] }, definitions: "lock" };
const rules = [
  'deny when tool == "everything.get-env"',
  'deny when tool == "everything.echo" && args.message.startsWith("password")',
  'confirm when "public" in labels && "private" in reads && agent.name != "bench"',
];

/** The same server is in the config twice, under these names. */
const names = { ours: "everything", without: "open" };

const oneByOne = (server: string) =>
  stopwatch(`for (let i = 0; i < ${calls}; i++) await ${server}.echo({ message: "x" });`);
const together = (server: string) =>
  stopwatch(`await Promise.all(Array.from({ length: ${calls} }, () => ${server}.echo({ message: "x" })));`);

export const measureProtection: Measure = async ({ binary, folder, rounds }) => {
  const everywhere = { ...everything(), ...labelled };
  const nowhere = { ...everything(), labels: { "*": [] }, definitions: "trust" };
  const both = folder({ everything: everywhere, open: nowhere }, { policy: { rules } });
  const inARow: Times = { ours: [], without: [] };
  const atOnce: Times = { ours: [], without: [] };
  for (let round = 0; round < rounds(maxRounds).least; round++) {
    await using host = await startHost(binary, both);
    await addRound(inARow, host, oneByOne, round % 2 === 0);
    await addRound(atOnce, host, together, round % 2 === 0);
  }
  const protectedFolder = folder({ everything: everywhere }, { policy: { rules } });
  const openFolder = folder({ everything: nowhere });
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
      "With protection, every answer is labelled as untrusted and private, definitions are locked, and three rules look at every call. Without, there are no labels, no rule is about the tool, and definitions are trusted.",
      `Two processes of one program differ by up to 10 %. So one process calls both, a protected server and one without protection, and each round has a new process; its times are the medians of ${executions} executions of each, in turn.`,
    ],
  };
};

/** Adds the medians of both, from one process. The first one is a little slower, so rounds begin with either. */
async function addRound(times: Times, host: Host, code: (server: string) => string, oursFirst: boolean): Promise<void> {
  const timesOf =
    (server: string): Contestant =>
    async () =>
      milliseconds(await host.execute(code(server)));
  const ours = timesOf(names.ours);
  const without = timesOf(names.without);
  const contestants: Contestants = oursFirst ? { ours, without } : { without, ours };
  await warmUp(contestants, warmUpMs);
  const found = await inTurn(executions, contestants, () => 1);
  times.ours.push(median(found.ours));
  times["without"]!.push(median(found["without"]!));
}
