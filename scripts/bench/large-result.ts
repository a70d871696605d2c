/** 10 MB of JSON, read from the filesystem server and filtered: time compared with the raw client, and memory. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesystem } from "../../test/support/servers.ts";
import { startHost, startRawClient } from "./host.ts";
import { hasProc, inTurn, meanOf, residentMb } from "./measure.ts";
import { type Row, rowOf, under, within } from "./report.ts";
import { type Measure, Peers } from "./section.ts";

const customers = 68_000;

/** Maximum number of rounds: each moves 100 MB. */
const maxRounds = 16;

/** The raw client's time has two typical values, depending on which side of the pipe is awake, so one call says little. */
const rawCalls = 2;

/** As text, because the code uses it too. */
const wanted = 'row.status === "paid" && row.total_cents > 50_000';
const countWanted = new Function("rows", `return rows.filter((row) => ${wanted}).length`) as (rows: unknown) => number;

/** The number of rows, the time of the call, and the time for parsing and filtering, measured inside, in milliseconds. */
type Inside = [count: number, readMs: number, filterMs: number];

const code = (path: string) => `
  const startedAt = performance.now();
  const { content } = await files.read_text_file({ path: ${JSON.stringify(path)} });
  const readAt = performance.now();
  const count = JSON.parse(content).filter((row) => ${wanted}).length;
  return [count, readAt - startedAt, performance.now() - readAt];`;

export const measureLargeResult: Measure = async (bench) => {
  const { rounds } = bench;
  const folder = bench.folder();
  const path = join(folder, "customers.json");
  const text = customersJson();
  writeFileSync(path, text);
  const expected = countWanted(JSON.parse(text));
  const servers = { files: filesystem(folder) };
  await using host = await startHost(bench.binary, bench.folder(servers));
  await using raw = await startRawClient(servers.files);
  await using peers = await Peers.start(bench, servers);
  const failed = await peers.leaveOutFailing(code(path));
  const timed = async (count: () => Promise<number>) => {
    const startedAt = performance.now();
    const counted = await count();
    const ms = performance.now() - startedAt;
    if (counted !== expected) throw new Error(`${counted} customers were found, there are ${expected}`);
    return ms;
  };
  const inside: Inside[] = [];
  const peaksMb: number[] = [];
  const ours = () =>
    timed(async () => {
      const seen = JSON.parse(await host.execute(code(path))) as Inside;
      inside.push(seen);
      if (hasProc) peaksMb.push(residentMb(host.pid, "VmHWM"));
      return seen[0];
    });
  const rawClient = () => {
    // The garbage of others does not count.
    Bun.gc(true);
    return timed(async () => {
      const { structuredContent } = await raw.call("read_text_file", { path });
      return countWanted(JSON.parse((structuredContent as { content: string }).content));
    });
  };
  const what = `${(text.length / 1e6).toFixed(1)} MB, read and filtered`;
  const besideRaw = rowOf(
    what,
    await inTurn(rounds(maxRounds, 8), { ours, "raw client": () => meanOf(rawCalls, rawClient) }),
  );
  // Measured alone in fewer rounds: these peers take seconds, and have no target.
  const others = peers.each((peer) => () => timed(async () => ((await peer.execute(code(path))) as Inside)[0]));
  const besidePeers = rowOf(what, await inTurn(rounds(maxRounds, 3), { ours, ...others }), peers.missing);
  const row = { ...besideRaw, others: { ...besideRaw.others, ...besidePeers.others } };
  return {
    rows: [
      within(row, "raw client", 1.5),
      rowOf("time in the call, seen from the code", { ours: inside.slice(1).map(([, readMs]) => readMs) }),
      rowOf("time to parse and filter", { ours: inside.slice(1).map(([, , filterMs]) => filterMs) }),
      ...peakRows(peaksMb),
    ],
    notes: [
      `The raw client's time is the mean of ${rawCalls} calls per round.`,
      "Timed from the host's request to its answer. The server sends the data twice, as text and as structured content.",
      ...failed.map(({ name, why }) => `${name} fails at this size: ${why}`),
      ...(hasProc ? [] : ["The resident size cannot be measured here: there is no /proc."]),
    ],
  };
};

function peakRows(peaksMb: number[]): Row[] {
  const [first, last] = [peaksMb[0], peaksMb.at(-1)];
  if (first === undefined || last === undefined) return [];
  const row = (what: string, ours: number, executions: number): Row =>
    under({ what, unit: "MB", ours, others: {}, counted: executions === 1 ? "once" : `${executions} times` }, 250);
  return [
    row("peak resident size of serve, first execution", first, 1),
    row("peak resident size of serve, all executions", last, peaksMb.length),
  ];
}

/** The same text in every run. */
function customersJson(): string {
  const rows = Array.from({ length: customers }, (_, id) => ({
    id,
    name: `Customer ${id}`,
    email: `customer-${id}@example.com`,
    total_cents: (id * 7_919) % 100_000,
    status: ["open", "paid", "cancelled"][id % 3],
    tags: ["retail", "europe"],
    note: "x".repeat(id % 20),
  }));
  return JSON.stringify(rows);
}
