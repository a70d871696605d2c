/** `claudikins daemon status`: which daemons run, and what they hold. */
import { findPeers } from "../../../daemon/peers.ts";
import { command, commonArgs } from "../../command.ts";
import { table } from "../../table.ts";
import { ofConfig } from "./of-config.ts";

export default command({
  name: "status",
  description: "Show the daemons that run: one for each config whose generated files were called lately.",
  args: {
    config: { ...commonArgs.config, description: "Only the one of this config file" },
    json: {
      type: "boolean",
      description:
        'Print {"daemons":[{"pid","version","config","startedAt","calls":{"running","done"},"servers"}]} and nothing else',
    },
  },
  examples: ["claudikins daemon status", "claudikins daemon status --json"],
  async run(args, io) {
    const peers = await findPeers(io.env);
    const daemons = (args.config === undefined ? peers : ofConfig(peers, args.config, io)).map(({ status }) => status);
    if (args.json) {
      await io.stdout.write(`${JSON.stringify({ daemons })}\n`);
      return 0;
    }
    if (daemons.length === 0) {
      await io.stderr.write("No daemon runs. One is started when a generated file is called.\n");
      return 0;
    }
    const rows = daemons.map(({ pid, version, config, calls, servers }) => [
      String(pid),
      version,
      `${calls.done} done, ${calls.running} running`,
      Object.entries(servers)
        .filter(([, state]) => state !== "not started")
        .map(([name, state]) => `${name}: ${state}`)
        .join(", ") || "none started",
      config ?? "the demo",
    ]);
    await io.stdout.write(table(["process", "version", "calls", "servers", "config"], rows, io.stdout.columns));
    return 0;
  },
});
