/** `return 1` again and again for a host, including the protocol. */
import { startHost } from "./host.ts";
import { inTurn, percentile, timeOf } from "./measure.ts";
import { startExecutor } from "./peers/executor.ts";
import { rowOf, rowOfAll, under } from "./report.ts";
import { absent, type Measure, Peers } from "./section.ts";

/** Executions per round; one for Deno, which starts a process for each. */
const perRound = 20;

export const measureWarm: Measure = async (bench) => {
  await using host = await startHost(bench.binary, bench.folder());
  await using peers = await Peers.start(bench);
  const { executor } = bench.found;
  if ("missing" in executor) Object.assign(peers.missing, absent({ executor }));
  else peers.running["executor"] = await startExecutor(executor, bench.folder());
  const times = await inTurn(
    bench.rounds(),
    {
      ours: () => timeOf(() => host.execute("return 1")),
      ...peers.each((peer) => () => timeOf(() => peer.execute("return 1"))),
    },
    (name) => (name === "deno" ? 1 : perRound),
  );
  return {
    rows: [
      under(rowOf("return 1, p50", times, peers.missing), 2),
      rowOfAll("return 1, p99", times, (values) => percentile(values, 0.99), peers.missing),
    ],
    notes: [
      "node:vm does not isolate: code in it can reach the process.",
      "deno starts a process for each execution, so it has no warm case. It is measured once for every twenty executions of the others.",
      "executor takes part only in startup and warm: adding a server to it needs a person's approval in its web page.",
    ],
  };
};
