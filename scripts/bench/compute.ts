/** Plain computing: QuickJS interprets, the others compile. */
import { computePrograms } from "./compute-programs.ts";
import { startHost } from "./host.ts";
import { inTurn } from "./measure.ts";
import { milliseconds, stopwatch } from "./programs.ts";
import { type Row, rowOf } from "./report.ts";
import { type Bench, type Measure, Peers } from "./section.ts";

/** It runs ten times, because some clocks count in milliseconds. */
const fibonacci = {
  what: "fib(27) ten times, inside",
  code: stopwatch(`
  const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2));
  for (let n = 0; n < 10; n++) if (fib(27) !== 196418) throw new Error("fib is broken");`),
};

/** Maximum number of rounds of a program: each makes its data again, which can take longer than the measured work. */
const maxRounds = 10;

export const measureCompute: Measure = async (bench) => {
  const rows: Row[] = [];
  const notes: string[] = [];
  for (const program of [fibonacci, ...computePrograms]) {
    const { row, failed } = await measureProgram(bench, program);
    rows.push(row);
    notes.push(...failed.map(({ name, why }) => `${name} fails at "${program.what}": ${why}`));
  }
  return { rows, notes };
};

async function measureProgram(bench: Bench, { what, id, code }: { what: string; id?: string; code: string }) {
  // Started for each program, since one that fails may end a peer.
  await using host = await startHost(bench.binary, bench.folder());
  await using peers = await Peers.start(bench);
  const failed = await peers.leaveOutFailing(code);
  const times = await inTurn(bench.rounds(maxRounds, 5), {
    ours: async () => milliseconds(await host.execute(code)),
    ...peers.each((peer) => async () => milliseconds(await peer.execute(code))),
  });
  return { row: { ...rowOf(what, times, peers.missing), ...(id === undefined ? {} : { id }) }, failed };
}
