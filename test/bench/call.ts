/** One call of a tool from a shell, as whole processes: with nothing running before, and again when it is warm. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Entry, everything } from "../support/servers.ts";
import { type Contestants, inTurn, processMs, type Times } from "./measure.ts";
import { findMcporter, type Mcporter } from "./peers/mcporter.ts";
import { outputOf } from "./peers/npm.ts";
import { atMostAbove, type Other, type Row, rowOf, within } from "./report.ts";
import type { Bench, Measure } from "./section.ts";

const words = ["call", "everything.echo", "message=hi"];
const script = join(import.meta.dir, "peers", "sdk-call.mjs");
const bare = "bun -e 0";

export const measureCall: Measure = async (bench) => {
  const mcporter = await findMcporter(bench.user);
  const missing = "missing" in mcporter ? mcporter.missing : undefined;
  const npx = await npxEntry(bench);
  const rounds = Math.min(bench.runs, 10);
  const rows = await measured("started by node", everything(), rounds, bench, mcporter);
  if ("command" in npx) rows.push(...(await measured("started by npx", npx, rounds, bench, mcporter)));
  return {
    rows,
    notes: [
      "Whole processes, start to exit. First: nothing runs, and the registry knows the tools. Again: the daemon of the first one is there.",
      `mcporter ${"version" in mcporter ? mcporter.version : ""} with its own daemon (keep-alive); the SDK's scripts start the server each time.`,
      ...(missing === undefined ? [] : [`No mcporter here: ${missing}`]),
      ...("missing" in npx ? [`No npx here: ${npx.missing}`] : []),
    ],
  };
};

/** As most people have it, from npm's cache: what the network takes is nobody's time. */
async function npxEntry({ user }: Bench): Promise<Entry | { missing: string }> {
  const name = "@modelcontextprotocol/server-everything";
  try {
    const cache = (await outputOf(["npm", "config", "get", "cache"], user)).trim();
    await outputOf(["npx", "--offline", "-y", "-p", name, "node", "-e", "0"], user);
    return { command: "npx", args: ["-y", name], env: { npm_config_cache: cache, npm_config_offline: "true" } };
  } catch (error) {
    return { missing: error instanceof Error ? error.message : String(error) };
  }
}

async function measured(how: string, entry: Entry, rounds: number, bench: Bench, mcporter: Mcporter): Promise<Row[]> {
  const cwd = bench.folder({ everything: entry });
  const sdk = [script, JSON.stringify(entry), JSON.stringify({ name: "echo", arguments: { message: "hi" } })];
  const ours = [bench.binary, ...words];
  const theirs = "missing" in mcporter ? undefined : [mcporter.executable, ...words];
  const stop = (program: string | undefined) => program && processMs([program, "daemon", "stop"], cwd);
  const stopThen = (command: string[]) => async () => {
    await stop(command[0]);
    return processMs(command, cwd);
  };
  mkdirSync(join(cwd, "config"));
  const keptAlive = { mcpServers: { everything: { ...entry, lifecycle: "keep-alive" } } };
  writeFileSync(join(cwd, "config", "mcporter.json"), JSON.stringify(keptAlive));
  const contestants: Contestants = {
    ours: stopThen(ours),
    again: () => processMs(ours, cwd),
    ...(theirs ? { mcporter: stopThen(theirs), "mcporter again": () => processMs(theirs, cwd) } : {}),
    "SDK, bun": () => processMs(["bun", ...sdk], cwd),
    "SDK, node": () => processMs(["node", ...sdk], cwd),
    [bare]: () => processMs(["bun", "-e", "0"], cwd),
  };
  try {
    return rowsOf(how, await inTurn(rounds, contestants));
  } finally {
    await stop(bench.binary);
    await stop(theirs?.[0]);
  }
}

function rowsOf(how: string, times: Times): Row[] {
  const { ours, again = [], mcporter, "mcporter again": mcporterAgain, ...others } = times;
  const notHere: Record<string, Other> = mcporter ? {} : { mcporter: { none: "not here" } };
  const first = rowOf(
    `call everything.echo, ${how}: first`,
    { ours, ...(mcporter ? { mcporter } : {}), ...others },
    notHere,
  );
  const beside = { "first call": ours, ...(mcporterAgain ? { mcporter: mcporterAgain } : {}), ...others };
  const second = (what: string) => rowOf(what, { ours: again, ...beside }, notHere);
  return [
    first,
    within(second("again, from a new process"), "first call", 0.1),
    atMostAbove(rowOf("the same", { ours: again, [bare]: times[bare] ?? [] }), bare, 40),
  ];
}
