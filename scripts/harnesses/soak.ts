/**
 * `bun run soak [--hosts n] [--seconds n] [--parts n] [--seed n]`: concurrent hosts at one `serve --http` of the built
 * executable, which cancel, disconnect and leave at random. Exits with code 1 if a call failed without a cause, a host
 * saw another host's data, a process was left, or memory was not released.
 */
import { parseArgs } from "node:util";
import { executable } from "../../test/support/claudikins.ts";
import { httpServe } from "../../test/support/http-serve.ts";
import { networkFixture } from "../../test/support/network.ts";
import { processesLeft } from "../../test/support/process.ts";
import { fixture } from "../../test/support/servers.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import { hasProc, residentMb } from "../bench/measure.ts";
import { Random } from "./random.ts";
import { type Figures, noFigures, SoakHost } from "./soak-host.ts";

export interface SoakOptions {
  hosts: number;
  seconds: number;
  seed: number;
  /** The number of parts of the time; all hosts leave between parts. The first part is a warm-up. */
  parts: number;
  /** Called with the progress. */
  report?: (line: string) => void;
}

export interface SoakResult {
  figures: Figures;
  /** Resident size in MB, if it can be measured: without hosts after each part, and the maximum. */
  memory: { afterEach: number[]; peak: number };
  exitCode: number;
  stderr: string;
  left: number;
}

/** The time for abandoned sessions to end, and for memory to be released. */
const restMs = 5_000;

export async function soak({ hosts, seconds, seed, parts, report = () => {} }: SoakOptions): Promise<SoakResult> {
  using folder = temporaryFolder();
  await using asker = await networkFixture("http", { program: "protocol", args: ["asker of the soak"] });
  const mcpServers = {
    asker: { url: `http://127.0.0.1:${asker.port}/` },
    near: fixture("protocol", "stdio", folder.path),
  };
  folder.write("claudikins.json", { mcpServers });
  const flags = ["--session-idle", "3s", "--max-sessions", String(hosts * 20), "--grace", "5s"];
  await using door = await httpServe(folder, flags, { command: [executable()] });
  const figures = noFigures();
  const afterEach: number[] = [];
  let peak = 0;
  const size = () => (hasProc ? Math.round(residentMb(door.pid)) : 0);
  const watch = setInterval(() => {
    peak = Math.max(peak, size());
  }, 200);
  try {
    for (let part = 0; part < parts; part++) {
      const deadline = performance.now() + (seconds * 1_000) / parts;
      const working = Array.from({ length: hosts }, (_, name) =>
        new SoakHost(door.url, part * hosts + name, new Random(seed + part, name), figures).workUntil(deadline),
      );
      await Promise.all(working);
      await Bun.sleep(restMs);
      afterEach.push(size());
      report(`part ${part + 1} of ${parts}: ${figures.executions} executions, ${size()} MB when everybody had left`);
    }
  } finally {
    clearInterval(watch);
  }
  door.signal("SIGTERM");
  const exitCode = await door.exited;
  const left = (await processesLeft(folder.path)).length;
  return { figures, memory: { afterEach, peak }, exitCode, stderr: door.stderr(), left };
}

/** The problems of a result, in words. */
export function problemsOf({ figures, memory, exitCode, stderr, left }: SoakResult): string[] {
  const { errors, leaks } = figures;
  const [first = 0] = memory.afterEach;
  const last = memory.afterEach.at(-1) ?? 0;
  return [
    ...errors.slice(0, 10),
    ...leaks.slice(0, 10),
    ...(last > 1.5 * first + 50 ? [`the memory grew from ${first} to ${last} MB`] : []),
    ...(exitCode === 0 ? [] : [`exit code ${exitCode}`]),
    ...(stderr === "" ? [] : [`on stderr: ${stderr.slice(0, 1_000)}`]),
    ...(left === 0 ? [] : [`${left} processes were left`]),
  ];
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      hosts: { type: "string", default: "50" },
      seconds: { type: "string", default: "60" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      parts: { type: "string", default: "4" },
    },
  });
  const {
    hosts = 0,
    seconds = 0,
    seed = 0,
    parts = 0,
  } = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]));
  const result = await soak({ hosts, seconds, seed, parts, report: (line) => console.error(line) });
  const { figures, memory } = result;
  const { errors, leaks, ...counts } = figures;
  console.log(`seed ${seed}, ${hosts} hosts, ${seconds} s`);
  console.log(
    Object.entries(counts)
      .map(([name, count]) => `${count} ${name}`)
      .join(", "),
  );
  console.log(`${errors.length} errors, ${leaks.length} leaks`);
  console.log(`memory: ${memory.afterEach.join(", ")} MB when everybody had left, ${memory.peak} MB at most`);
  const problems = problemsOf(result);
  for (const problem of problems) console.error(problem);
  return problems.length > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main();
