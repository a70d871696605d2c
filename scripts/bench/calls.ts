/** 100 tool calls of one execution, sequential and concurrent, compared with the SDK's client on the same server. */
import { everything } from "../../test/support/servers.ts";
import { startHost, startRawClient } from "./host.ts";
import { type Contestant, type Contestants, inTurn, meanOf, timeOf, warmUp } from "./measure.ts";
import { milliseconds, stopwatch } from "./programs.ts";
import { type Row, rowOf, within } from "./report.ts";
import { type Measure, Peers } from "./section.ts";

const calls = 100;

/** Contestants take turns, and the first call after a turn is slow, so each measurement is the mean of several calls after a warm-up. */
const inARow = 3;
const warmUpMs = 1_500;

const denoRounds = 12;

const sequentialCode = stopwatch(`for (let i = 0; i < ${calls}; i++) await everything.echo({ message: "x" });`);
const parallelCode = stopwatch(
  `await Promise.all(Array.from({ length: ${calls} }, () => everything.echo({ message: "x" })));`,
);

export const measureCalls: Measure = async (bench) => {
  const servers = { everything: everything() };
  await using host = await startHost(bench.binary, bench.folder(servers));
  await using raw = await startRawClient(servers.everything);
  await using peers = await Peers.start(bench, servers);
  const echo = () => raw.call("echo", { message: "x" });
  const beside = async (what: string, code: string, rawCalls: () => Promise<unknown>): Promise<Row> => {
    const ours = async () => milliseconds(await host.execute(code));
    const { deno, ...inProcess } = peers.each((peer) => async () => milliseconds(await peer.execute(code)));
    const warmed: Contestants = { ours, "raw client": () => timeOf(rawCalls), ...inProcess };
    await warmUp(warmed, warmUpMs);
    const inRows = Object.entries(warmed).map(([name, measure]) => [name, () => warmMeanOf(measure)]);
    const row = rowOf(what, await inTurn(bench.rounds(), Object.fromEntries(inRows), () => 1), peers.missing);
    if (!deno) return row;
    // A contestant that starts a process for each execution would leave nothing warm for the others, so it runs alone.
    const { others } = rowOf(what, await inTurn(bench.rounds(denoRounds), { ours, deno }, () => 1));
    return { ...row, others: { ...row.others, ...others } };
  };
  const oneByOne = await beside(`${calls} calls one after the other`, sequentialCode, async () => {
    for (let call = 0; call < calls; call++) await echo();
  });
  const together = await beside(`${calls} calls together`, parallelCode, () =>
    Promise.all(Array.from({ length: calls }, echo)),
  );
  return {
    rows: [within(oneByOne, "raw client", 2.5), within(together, "raw client", 2)],
    notes: [
      `After a warm-up, each time is the mean of ${inARow} executions in a row, preceded by one that is not counted. deno starts a process for each execution, so its times are of one execution.`,
      "The calls to everything.echo are timed inside the code. node:vm and deno call through the SDK's client.",
    ],
  };
};

async function warmMeanOf(measure: Contestant): Promise<number> {
  await measure();
  return meanOf(inARow, measure);
}
