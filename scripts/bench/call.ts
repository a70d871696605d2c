/** One call of a tool from a shell, as whole processes: the first call, when nothing runs, and later calls. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Entry, everything } from "../../test/support/servers.ts";
import { type Contestant, type Contestants, inTurn, processMs, type Rounds, type Times } from "./measure.ts";
import { outputOf } from "./peers/npm.ts";
import type { Program } from "./peers/peer.ts";
import { atMostAbove, type Other, type Row, rowOf, within } from "./report.ts";
import type { Bench, Measure } from "./section.ts";

const words = ["call", "everything.echo", "message=hi"];
const script = join(import.meta.dir, "peers", "sdk-call.mjs");
const bare = "bun -e 0";

export const measureCall: Measure = async (bench) => {
  const { mcporter, mcpc } = bench.found;
  const npx = await npxEntry(bench);
  const rounds = bench.rounds(10, 3);
  const rows = await measured("started by node", everything(), rounds, bench, { mcporter, mcpc });
  if ("command" in npx) rows.push(...(await measured("started by npx", npx, rounds, bench, { mcporter, mcpc })));
  return {
    rows,
    notes: [
      "Whole processes are timed from start to exit. Before the first call nothing runs, and the registry knows the tools. For the next calls the daemon of the first call is running.",
      "mcporter uses its own daemon (keep-alive). mcpc uses a session: its first call includes connecting. The SDK scripts start the server for each call.",
      ...("missing" in npx ? [`No npx here: ${npx.missing}`] : []),
    ],
  };
};

/** The server as most people run it, from npm's cache: nobody's time includes the network. */
async function npxEntry({ user, folder }: Bench): Promise<Entry | { missing: string }> {
  const name = "@modelcontextprotocol/server-everything";
  try {
    const cache = (await outputOf(["npm", "config", "get", "cache"], user)).trim();
    // In the checkout, npx would find the package in node_modules.
    await outputOf(["npx", "--offline", "-y", "-p", name, "node", "-e", "0"], user, folder());
    return { command: "npx", args: ["-y", name], env: { npm_config_cache: cache, npm_config_offline: "true" } };
  } catch (error) {
    return { missing: error instanceof Error ? error.message : String(error) };
  }
}

async function measured(
  how: string,
  entry: Entry,
  rounds: Rounds,
  bench: Bench,
  { mcporter, mcpc }: Record<"mcporter" | "mcpc", Program>,
): Promise<Row[]> {
  const cwd = bench.folder({ everything: entry });
  const sdk = [script, JSON.stringify(entry), JSON.stringify({ name: "echo", arguments: { message: "hi" } })];
  const ours = [bench.binary];
  const theirs = "missing" in mcporter ? undefined : mcporter.command;
  const stop = (program: string[]) => processMs([...program, "daemon", "stop"], cwd);
  const call = (program: string[]) => processMs([...program, ...words], cwd);
  const stopThenCall = (program: string[]) => async () => {
    await stop(program);
    return call(program);
  };
  mkdirSync(join(cwd, "config"));
  const keptAlive = { mcpServers: { everything: { ...entry, lifecycle: "keep-alive" } } };
  writeFileSync(join(cwd, "config", "mcporter.json"), JSON.stringify(keptAlive));
  const contestants: Contestants = {
    ours: stopThenCall(ours),
    again: () => call(ours),
    ...(theirs ? { mcporter: stopThenCall(theirs), "mcporter again": () => call(theirs) } : {}),
    ...("missing" in mcpc ? {} : mcpcContestants(mcpc.command, entry, cwd)),
    "SDK, bun": () => processMs(["bun", ...sdk], cwd),
    "SDK, node": () => processMs(["node", ...sdk], cwd),
    [bare]: () => processMs(["bun", "-e", "0"], cwd),
  };
  try {
    return rowsOf(how, await inTurn(rounds, contestants));
  } finally {
    await stop(ours);
    if (theirs) await stop(theirs);
    if (!("missing" in mcpc)) await processMs([...mcpc.command, "clean", "all"], cwd).catch(() => {});
  }
}

/** mcpc keeps named connections. Its first call includes making the connection. */
function mcpcContestants(mcpc: string[], entry: Entry, cwd: string): Record<string, Contestant> {
  const config = join(cwd, "mcpc.json");
  writeFileSync(config, JSON.stringify({ mcpServers: { everything: entry } }));
  const call = () => processMs([...mcpc, "@bench", "tools-call", "echo", "message:=hi"], cwd);
  return {
    mcpc: async () => {
      await processMs([...mcpc, "close", "@bench"], cwd).catch(() => {});
      return (await processMs([...mcpc, "connect", `${config}:everything`, "@bench"], cwd)) + (await call());
    },
    "mcpc again": call,
  };
}

function rowsOf(how: string, times: Times): Row[] {
  const {
    ours,
    again = [],
    mcporter,
    "mcporter again": mcporterAgain,
    mcpc,
    "mcpc again": mcpcAgain,
    ...others
  } = times;
  const notHere: Record<string, Other> = {
    ...(mcporter ? {} : { mcporter: { none: "not here" } }),
    ...(mcpc ? {} : { mcpc: { none: "not here" } }),
  };
  const first = rowOf(
    `first call, server ${how}`,
    { ours, ...(mcporter ? { mcporter } : {}), ...(mcpc ? { mcpc } : {}), ...others },
    notHere,
  );
  const beside = {
    "first call": ours,
    ...(mcporterAgain ? { mcporter: mcporterAgain } : {}),
    ...(mcpcAgain ? { mcpc: mcpcAgain } : {}),
    ...others,
  };
  const second = (what: string) => rowOf(what, { ours: again, ...beside }, notHere);
  return [
    first,
    within(second(`next call, server ${how}`), "first call", 0.1),
    atMostAbove(
      rowOf(`next call, beside an empty process, server ${how}`, { ours: again, [bare]: times[bare] ?? [] }),
      bare,
      40,
    ),
  ];
}
