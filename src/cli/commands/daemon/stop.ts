/** `claudikins daemon stop`: ends daemons, and with them the servers that they hold. */
import { askToStop, findPeers, hasEnded, type Peer } from "../../../daemon/peers.ts";
import { ClaudikinsError } from "../../../errors.ts";
import { command, commonArgs } from "../../command.ts";
import type { Io } from "../../io.ts";
import { saying } from "../../progress.ts";
import { either, list, nothing, number, record, text } from "../../shapes.ts";
import { ofConfig } from "./of-config.ts";

export default command({
  description: "Stop the daemon of this config and its servers, once running calls have finished.",
  args: {
    all: { type: "boolean", description: "Stop the daemons of all configs" },
    now: { type: "boolean", description: "Cancel running calls instead of waiting for them" },
    config: commonArgs.config,
    json: commonArgs.json,
  },
  examples: ["claudikins daemon stop", "claudikins daemon stop --all --now"],
  json: record({ stopped: list(record({ pid: number, config: either(text, nothing) })) }),
  async run(args, io) {
    if (args.all && args.config !== undefined) throw new ClaudikinsError("USAGE", "Use --config or --all, not both");
    const peers = await saying(io.stderr, "Contacting the daemons", findPeers(io.env));
    const chosen = args.all ? peers : ofConfig(peers, args.config, io);
    const notice = args.json ? undefined : io.stderr;
    const stopped = await Promise.all(chosen.map((peer) => stop(peer, args.now === true, io, notice)));
    if (args.json) await io.stdout.write(`${JSON.stringify({ stopped })}\n`);
    else if (stopped.length === 0) await io.stdout.write("No daemon was running\n");
    else
      await io.stdout.write(
        stopped.map(({ pid, config }) => `Stopped daemon ${pid} of ${config ?? "the demo"}\n`).join(""),
      );
    return 0;
  },
});

/** Resolves when the process is gone, or when nobody wants to wait any longer. */
async function stop({ place, status }: Peer, now: boolean, io: Io, notice: Io["stderr"] | undefined) {
  const { pid, config } = status;
  const calls = await askToStop(place.socket, now);
  if (calls && !now)
    await notice?.write(`Waiting for ${calls} ${calls === 1 ? "call" : "calls"} to finish (--now cancels them)\n`);
  await hasEnded(pid, io.interrupted);
  return { pid, config };
}
