/**
 * `bun run zombies [--rounds n] [--seed n] [--first n]`: rounds in which the built executable starts six servers and
 * dies in a random way at a random moment. Exits with code 1 if a process is left after any round.
 */
import { parseArgs } from "node:util";
import { executable } from "../../test/support/claudikins.ts";
import { isTrueWithin } from "../../test/support/eventually.ts";
import { envelope } from "../../test/support/modern-host.ts";
import { processesLeft, processesWith, testEnvironment } from "../../test/support/process.ts";
import { fixture } from "../../test/support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../../test/support/temporary.ts";
import { Random } from "./random.ts";

/** One round, determined by seed and number. */
export interface Plan {
  command: "exec" | "serve";
  death: "normal exit" | "EOF" | "SIGINT" | "SIGTERM" | "SIGKILL" | "crash while connecting";
  /** The work at its death: an endless loop, waiting for a tool, or none. */
  work: "loop" | "wait" | "rest";
  /** The era of the agent of `serve`. In the newer one, waiting means that the program is parked with a question. */
  era: "2025" | "2026";
  /** The delay after the first server's start, or after all servers work. */
  delayMs: number;
}

export interface Round extends Plan {
  /** The number of processes at its death, without claudikins and its watchdog. */
  had: number;
  /** The time from its end until no process was left. */
  goneMs: number;
  left: string[];
}

const deaths = ["normal exit", "EOF", "SIGINT", "SIGTERM", "SIGKILL", "crash while connecting"] as const;

/** The number of servers and children once all have started, without the crashed one. */
const whenAtWork = 7;

/** The maximum time of an orderly end. */
const endsWithinMs = 30_000;

export function planOf(seed: number, index: number): Plan {
  const random = new Random(seed, index);
  // Each kind of death in turn, so that a few rounds include all of them; the rest is random.
  const death = deaths[index % deaths.length] ?? "SIGKILL";
  const command =
    death === "normal exit" ? "exec" : death === "EOF" ? "serve" : random.pick(["exec", "serve"] as const);
  const work = death === "normal exit" ? "rest" : random.pick(["loop", "wait", "rest"] as const);
  const delayMs = random.below(death === "crash while connecting" ? 300 : 150);
  return { command, death, work, delayMs, era: random.pick(["2025", "2026"] as const) };
}

/** One server for each way to resist its end, and one that refuses the older era. */
function project(): TemporaryFolder {
  const folder = temporaryFolder();
  folder.write("claudikins.json", {
    mcpServers: {
      ordinary: fixture("odd", folder.path),
      crashing: fixture("odd", folder.path),
      stubborn: fixture("stubborn", folder.path),
      clinging: fixture("clinging", folder.write("still", "")),
      newer: fixture("modern", "reject", folder.path),
      starting: fixture("never-starts", folder.path),
    },
  });
  return folder;
}

/** Names are computed, since code that contains a server's name, or an unknown name, waits for its tools. */
const code = ({ work, command, era }: Plan) => `
const kept = [servers["start" + "ing"].anything({}).catch(() => {})];
await Promise.all([
  servers["ordi" + "nary"].structured({}),
  servers["stub" + "born"].hello({}),
  servers["cling" + "ing"].hello({}),
  servers["new" + "er"].era({}),
  servers["crash" + "ing"]["end-process"]({}).catch(() => {}),
]);
${{ loop: "while (true) {}", wait: command === "serve" && era === "2026" ? asking : hanging, rest: 'return "done";' }[work]}
`;

const hanging = 'await servers["ordi" + "nary"].hang({});';
const asking = 'await servers["new" + "er"].greet({});';

function start(plan: Plan, folder: TemporaryFolder) {
  const { command, era } = plan;
  const args = command === "exec" ? ["exec", "-e", code(plan)] : ["serve"];
  const child = Bun.spawn([executable(), ...args], {
    cwd: folder.path,
    env: testEnvironment(),
    stdin: "pipe",
    stdout: "ignore",
    stderr: "ignore",
  });
  if (command === "serve") {
    const say = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const call = { name: "execute_code", arguments: { code: code(plan) } };
    if (era === "2025") {
      const clientInfo = { name: "zombies", version: "1" };
      say({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
      say({ method: "notifications/initialized" });
      say({ id: 2, method: "tools/call", params: call });
    } else say({ id: 2, method: "tools/call", params: { ...call, _meta: envelope({ elicitation: { form: {} } }) } });
    child.stdin.flush();
  }
  return child;
}

export async function zombieRound(plan: Plan): Promise<Round> {
  using folder = project();
  const child = start(plan, folder);
  const { death } = plan;
  const isConnecting = death === "crash while connecting";
  const enough = () => child.exitCode !== null || processesWith(folder.path).length >= (isConnecting ? 1 : whenAtWork);
  if (!(await isTrueWithin(30_000, enough))) {
    child.kill("SIGKILL");
    const had = processesWith(folder.path).length;
    return { ...plan, had, goneMs: 0, left: [`only ${had} processes had been started after 30 s`] };
  }
  if (death !== "normal exit") await Bun.sleep(plan.delayMs);
  const had = processesWith(folder.path).length;
  if (death === "EOF") child.stdin.end();
  else if (death !== "normal exit") child.kill(death === "crash while connecting" ? "SIGABRT" : death);
  const ended = await isTrueWithin(endsWithinMs, () => child.exitCode !== null || child.signalCode !== null);
  const endedAt = performance.now();
  const marks = [folder.path, `claudikins-watchdog ${child.pid} `];
  const pids = (await Promise.all(marks.map((mark) => processesLeft(mark)))).flat();
  const goneMs = Math.round(performance.now() - endedAt);
  const left = Bun.spawnSync(["ps", "-o", "pid=,ppid=,pgid=,stat=,args=", "-p", pids.join(",")]).stdout.toString();
  // No process may be left for the next round.
  child.kill("SIGKILL");
  for (const pid of pids) process.kill(pid, "SIGKILL");
  return {
    ...plan,
    had,
    goneMs,
    left: [
      ...(ended ? [] : [`it did not end within ${endsWithinMs / 1_000} s`]),
      ...(pids.length > 0
        ? left
            .trimEnd()
            .split("\n")
            .map((line) => line.slice(0, 200))
        : []),
    ],
  };
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      rounds: { type: "string", default: "200" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      first: { type: "string", default: "0" },
    },
  });
  const [rounds, seed, first] = [Number(values.rounds), Number(values.seed), Number(values.first)];
  const all: Round[] = [];
  for (let index = first; index < first + rounds; index++) {
    const round = await zombieRound(planOf(seed, index));
    all.push(round);
    const { command, death, work, delayMs, era, left } = round;
    const what = `round ${index}: ${command}, ${death}, ${work}, ${delayMs} ms, ${era}`;
    if (left.length > 0) console.error(`seed ${seed}, ${what}: left are\n  ${left.join("\n  ")}`);
    if ((index - first + 1) % 20 === 0) console.error(`${index - first + 1} rounds`);
  }
  for (const death of deaths) {
    const of = all.filter((round) => round.death === death);
    if (of.length === 0) continue;
    const times = of.map(({ goneMs }) => goneMs).sort((a, b) => a - b);
    const [median, worst] = [times[Math.floor(times.length / 2)], times.at(-1)];
    const failed = of.filter(({ left }) => left.length > 0).length;
    const had = of.reduce((sum, round) => sum + round.had, 0) / of.length;
    console.log(
      `${death}: ${of.length} rounds, ${had.toFixed(1)} processes each; gone ${median} ms after its end, ${worst} ms at most; ${failed} with something left`,
    );
  }
  const failed = all.filter(({ left }) => left.length > 0).length;
  console.log(`seed ${seed}: ${all.length} rounds, ${failed} with something left`);
  return failed > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main();
