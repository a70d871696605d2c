/** `return 1` again and again, as the host sees it, protocol included. */
import { startHost } from "./host.ts";
import { inTurn, median, percentile, timeOf } from "./measure.ts";
import { rowOfAll, under } from "./report.ts";
import { type Measure, Peers } from "./section.ts";

/** Executions in one round; of Deno, which starts a process for each, it is one. */
const perRound = 20;

export const measureWarm: Measure = async (bench) => {
  await using host = await startHost(bench.binary, bench.folder());
  await using peers = await Peers.start(bench);
  const times = await inTurn(
    bench.runs,
    {
      ours: () => timeOf(() => host.execute("return 1")),
      ...peers.each((peer) => () => timeOf(() => peer.execute("return 1"))),
    },
    (name) => (name === "deno" ? 1 : perRound),
  );
  return {
    rows: [
      under(rowOfAll("return 1, p50", times, median, peers.missing), 2),
      rowOfAll("return 1, p99", times, (values) => percentile(values, 0.99), peers.missing),
    ],
    notes: [
      "node:vm is no isolation: what runs there can reach the process.",
      "deno: a process for each execution, so that a warm one is a cold one; only one for twenty of the others.",
    ],
  };
};
