/** gen for ten thousand tools of a thousand servers, each in its own process: its time and its memory. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { listedAtOnce } from "../../src/servers/lists/listings.ts";
import { tiny } from "../../test/support/servers.ts";
import { hasProc, median, residentMb } from "./measure.ts";
import { type Row, rowOf, under } from "./report.ts";
import { syntheticIndex } from "./search-corpus.ts";
import type { Bench, Measure } from "./section.ts";

/** Maximum number of rounds: each starts two thousand processes. */
const maxRounds = 3;

/** Milliseconds between two readings of the resident size. */
const peakReadMs = 20;

interface Run {
  ms: number;
  peakMb: number;
}

export const measureGen: Measure = async (bench) => {
  const first: Run[] = [];
  const again: Run[] = [];
  for (let round = 0; round < Math.min(bench.runs, maxRounds); round++) {
    const folder = thousandServers(bench);
    first.push(await gen(bench.binary, folder));
    again.push(await gen(bench.binary, folder));
  }
  const time = (what: string, runs: Run[]) => rowOf(what, { ours: runs.map(({ ms }) => ms) });
  return {
    rows: [
      time("10,000 tools of 1,000 servers", first),
      time("the same again, unchanged", again),
      under(peakRow("peak resident size of gen", first), 400),
      peakRow("peak resident size of gen, unchanged", again),
    ],
    notes: [
      `Every server is a process (a small shell program); at most ${listedAtOnce} run at once. 13,000 files and the search index are written.`,
    ],
  };
};

function peakRow(what: string, runs: Run[]): Row {
  return {
    what,
    unit: "MB",
    ours: median(runs.map(({ peakMb }) => peakMb)),
    others: {},
    counted: `${runs.length} times`,
  };
}

/** A folder with a config of a thousand servers. */
function thousandServers(bench: Bench): string {
  const lists = bench.folder();
  const entries = syntheticIndex().servers.map(({ name, tools }) => {
    const file = join(lists, `${name}.json`);
    writeFileSync(file, `${JSON.stringify(tools)}\n`);
    return [name, tiny(file)] as const;
  });
  return bench.folder(Object.fromEntries(entries));
}

async function gen(binary: string, cwd: string): Promise<Run> {
  const startedAt = performance.now();
  const child = Bun.spawn([binary, "gen", "--json"], {
    cwd,
    env: process.env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const peak = new Peak(child);
  const text = await child.stdout.text();
  await child.exited;
  const ms = performance.now() - startedAt;
  const { servers } = JSON.parse(text) as { servers: { tools: number }[] };
  const tools = servers.reduce((sum, server) => sum + server.tools, 0);
  if (tools !== 10_000) throw new Error(`gen found ${tools} tools`);
  return { ms, peakMb: peak.mb };
}

/**
 * The highest resident size of a process. With /proc it is read until the end: the usage that the system reports afterwards is at least the
 * size of the process that started it, which here is the benchmark.
 */
class Peak {
  readonly #child: Bun.Subprocess;
  #mb = 0;

  constructor(child: Bun.Subprocess) {
    this.#child = child;
    if (!hasProc) return;
    const timer = setInterval(() => this.#read(), peakReadMs);
    void child.exited.finally(() => clearInterval(timer));
  }

  get mb(): number {
    return hasProc ? this.#mb : (this.#child.resourceUsage()?.maxRSS ?? Number.NaN) / 1_048_576;
  }

  #read(): void {
    try {
      this.#mb = residentMb(this.#child.pid, "VmHWM");
    } catch {
      // The process has ended.
    }
  }
}
