/** `claudikins daemon status`: which daemons run, and what they hold. */
import { findPeers } from "../../../daemon/peers.ts";
import type { Status } from "../../../daemon/protocol.ts";
import { command, commonArgs } from "../../command.ts";
import { saying } from "../../progress.ts";
import { about, byName, either, list, nothing, number, record, text, time, yesOrNo } from "../../shapes.ts";
import { table } from "../../table.ts";
import { ofConfig } from "./of-config.ts";

export default command({
  description: "List the running daemons and their servers. Each config whose tools were called recently has a daemon.",
  args: {
    config: { ...commonArgs.config, description: "Show only the daemon of this config file" },
    json: commonArgs.json,
  },
  examples: ["claudikins daemon status", "claudikins daemon status --json"],
  json: record({
    daemons: list(
      record({
        pid: number,
        version: text,
        config: about("Its config file; null for the demo", either(text, nothing)),
        startedAt: time,
        calls: record({ running: number, done: number }),
        servers: about("State of each server, by name", byName(text)),
        held: about(
          "Server processes that it started",
          list(record({ server: text, pid: either(number, nothing), since: time, users: number, private: yesOrNo })),
        ),
      }),
    ),
  }),
  async run(args, io) {
    const peers = await saying(io.stderr, "Contacting the daemons", findPeers(io.env));
    const daemons = (args.config === undefined ? peers : ofConfig(peers, args.config, io)).map(({ status }) => status);
    if (args.json) {
      await io.stdout.write(`${JSON.stringify({ daemons })}\n`);
      return 0;
    }
    if (daemons.length === 0) {
      await io.stderr.write("No daemon is running. A daemon starts when a tool is called.\n");
      return 0;
    }
    const rows = daemons.map(({ pid, version, config, calls, ...servers }) => [
      String(pid),
      version,
      `${calls.done} done, ${calls.running} running`,
      serversText(servers),
      config ?? "the demo",
    ]);
    await io.stdout.write(table(["process", "version", "calls", "servers", "config"], rows, io.stdout.columns));
    return 0;
  },
});

/** The processes of a program's server, and the state of any other server. */
function serversText({ servers, held }: Pick<Status, "servers" | "held">): string {
  const processes = held.map((each) => `${each.server} (process ${each.pid}${each.private ? ", private" : ""})`);
  const names = new Set(held.map(({ server }) => server));
  const others = Object.entries(servers)
    .filter(([name, state]) => !names.has(name) && state !== "not started")
    .map(([name, state]) => `${name}: ${state}`);
  return [...processes, ...others].join(", ") || "none started";
}
