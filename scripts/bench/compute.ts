/** Plain computing: QuickJS interprets, the others compile. It runs ten times, because some clocks count in milliseconds. */
import { startHost } from "./host.ts";
import { inTurn } from "./measure.ts";
import { milliseconds, stopwatch } from "./programs.ts";
import { rowOf } from "./report.ts";
import { type Measure, Peers } from "./section.ts";

const fibonacci = stopwatch(`
  const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2));
  for (let n = 0; n < 10; n++) if (fib(27) !== 196418) throw new Error("fib is broken");`);

export const measureCompute: Measure = async (bench) => {
  await using host = await startHost(bench.binary, bench.folder());
  await using peers = await Peers.start(bench);
  const times = await inTurn(bench.rounds(), {
    ours: async () => milliseconds(await host.execute(fibonacci)),
    ...peers.each((peer) => async () => milliseconds(await peer.execute(fibonacci))),
  });
  return { rows: [rowOf("fib(27) ten times, inside", times, peers.missing)] };
};
