/** 100 tool calls of one execution, one after the other and together, against the SDK's own client on the same server. */
import { everything } from "../support/servers.ts";
import { startHost, startRawClient } from "./host.ts";
import { inTurn, timeOf } from "./measure.ts";
import { milliseconds, stopwatch } from "./programs.ts";
import { rowOf, within } from "./report.ts";
import { type Measure, Peers } from "./section.ts";

const calls = 100;

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
  const beside = (code: string, rawCalls: () => Promise<unknown>) =>
    inTurn(bench.rounds(), {
      ours: async () => milliseconds(await host.execute(code)),
      "raw client": () => timeOf(rawCalls),
      ...peers.each((peer) => async () => milliseconds(await peer.execute(code))),
    });
  const sequential = await beside(sequentialCode, async () => {
    for (let call = 0; call < calls; call++) await echo();
  });
  const parallel = await beside(parallelCode, () => Promise.all(Array.from({ length: calls }, echo)));
  return {
    rows: [
      within(rowOf(`${calls} calls one after the other`, sequential, peers.missing), "raw client", 1.25),
      within(rowOf(`${calls} calls together`, parallel, peers.missing), "raw client", 2),
    ],
    notes: ["everything.echo, timed inside the code. node:vm and deno call through the SDK's client, too."],
  };
};
