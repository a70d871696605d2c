/** `claudikins daemon run`: the daemon itself. Generated files start it; by hand it shows what it does. */
import { dirname } from "node:path";
import { loadConfig } from "../../../config/load.ts";
import { placeAt, placeOf } from "../../../daemon/place.ts";
import { runDaemon } from "../../../daemon/run.ts";
import { openLog } from "../../../log.ts";
import { command, commonArgs } from "../../command.ts";
import { parseDuration } from "../../flags.ts";
import { toolboxOf } from "../../session.ts";

const maxIdleMs = 86_400_000;

export default command({
  name: "run",
  description: "Hold the servers of a config for all who call their tools. It is started when it is needed.",
  args: {
    config: commonArgs.config,
    demo: { type: "boolean", description: "The demo's config, whatever files there are" },
    socket: { type: "string", valueHint: "path", description: "Where to listen (default: where callers look)" },
    idle: { type: "string", valueHint: "time", description: "Time without calls after which it ends (5m)" },
    json: { type: "boolean", description: "Say what goes wrong as one JSON document" },
  },
  examples: ["claudikins daemon run", "CLAUDIKINS_LOG=debug claudikins daemon run --idle 1h"],
  async run(args, io) {
    const config = await loadConfig({ flag: args.config, demo: args.demo, cwd: io.cwd, env: io.env });
    const { origin, folders } = config;
    const file = origin.kind === "demo" ? undefined : origin.file;
    const place = args.socket === undefined ? placeOf(file, io.env) : placeAt(args.socket, io.env);
    // Callers have many working directories; servers get one that is always the same.
    await using toolbox = await toolboxOf(config, io, dirname(file ?? folders.workspace));
    const result = await runDaemon(toolbox, {
      place,
      idleMs: args.idle === undefined ? undefined : parseDuration(args.idle, "--idle", maxIdleMs),
      madeOf: [...(file === undefined ? [] : [file]), ...(Bun.isStandaloneExecutable ? [process.execPath] : [])],
      interrupted: io.interrupted,
      log: await openLog(io.env["CLAUDIKINS_LOG"]),
      onListening: () => void (args.json || io.stderr.write(`Listening at ${place.socket}\n`)),
    });
    if (result === "another" && !args.json) await io.stderr.write("Another one is running for this config.\n");
    return 0;
  },
});
