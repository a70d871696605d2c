/** Executions through a warm `serve`, and tool calls inside one against the SDK's own client on the same server. */
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { everything } from "../support/servers.ts";
import { median } from "./measure.ts";

export interface Executions {
  /** `return 1` as the host sees it, protocol included. */
  warmMs: { p50: number; p99: number; runs: number };
  /** Resident size of the whole process, before and after 1,000 more executions; undefined where there is no /proc. */
  residentMb: { before: number; after: number } | undefined;
  /** 100 calls of `everything.echo`, ours over the raw client's. */
  sequential: { oursMs: number; rawMs: number; ratio: number };
  parallel: { oursMs: number; rawMs: number; ratio: number };
}

const calls = 100;

/** `folder` has a config with the server `everything`. */
export async function measureExecutions(binary: string, folder: string, rounds: number): Promise<Executions> {
  const serve = new StdioClientTransport({ command: binary, args: ["serve"], cwd: folder, stderr: "ignore" });
  const host = new Client({ name: "bench", version: "1" });
  const raw = new Client({ name: "bench", version: "1" });
  await host.connect(serve);
  await raw.connect(new StdioClientTransport({ ...everything(), stderr: "ignore" }));
  try {
    const execute = async (code: string): Promise<string> => {
      const { content, isError } = await host.callTool({ name: "execute_code", arguments: { code } });
      const [block] = content as { text: string }[];
      if (isError || !block) throw new Error(`an execution failed: ${block?.text}`);
      return block.text;
    };
    const times = await timesOf(300, () => execute("return 1"));
    const before = residentMb(serve.pid);
    await timesOf(1_000, () => execute("return Array.from({ length: 1_000 }, (_, i) => i).length"));
    const after = residentMb(serve.pid);
    const inside = async (code: string) => Number.parseFloat(await execute(`${stopwatch(code)}`));
    const echo = () => raw.callTool({ name: "echo", arguments: { message: "x" } });
    const sequential = await ratioOf(
      rounds,
      () => inside(`for (let i = 0; i < ${calls}; i++) await everything.echo({ message: "x" });`),
      async () => {
        for (let call = 0; call < calls; call++) await echo();
      },
    );
    const parallel = await ratioOf(
      rounds,
      () => inside(`await Promise.all(Array.from({ length: ${calls} }, () => everything.echo({ message: "x" })));`),
      () => Promise.all(Array.from({ length: calls }, echo)),
    );
    const sorted = times.sort((a, b) => a - b);
    return {
      warmMs: { p50: median(sorted), p99: sorted[Math.floor(sorted.length * 0.99)]!, runs: sorted.length },
      residentMb: before === undefined || after === undefined ? undefined : { before, after },
      sequential,
      parallel,
    };
  } finally {
    await Promise.all([host.close(), raw.close()]);
  }
}

/** Code that returns how long other code took, in milliseconds. */
function stopwatch(code: string): string {
  return `const startedAt = performance.now();\n${code}\nreturn performance.now() - startedAt;`;
}

async function ratioOf(rounds: number, ours: () => Promise<number>, raw: () => Promise<unknown>) {
  const pairs: [number, number][] = [];
  for (let round = 0; round <= rounds; round++) {
    const oursMs = await ours();
    const [rawMs = 0] = await timesOf(1, raw);
    if (round > 0) pairs.push([oursMs, rawMs]);
  }
  return {
    oursMs: median(pairs.map(([a]) => a)),
    rawMs: median(pairs.map(([, b]) => b)),
    ratio: median(pairs.map(([a, b]) => a / b)),
  };
}

async function timesOf(runs: number, work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let run = 0; run < runs; run++) {
    const startedAt = performance.now();
    await work();
    times.push(performance.now() - startedAt);
  }
  return times;
}

function residentMb(pid: number | null): number | undefined {
  if (process.platform !== "linux" || pid === null) return undefined;
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1024);
}
