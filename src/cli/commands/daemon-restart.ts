/** `claudikins daemon restart`: ends a server in the daemon, and starts it again. */
import { counted } from "../../base/counted.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { about, number, record, text } from "../../base/json-shape.ts";
import { command, place } from "../command.ts";
import { daemonOf } from "../daemon/with-daemon.ts";
import { configArgs, usesDaemon } from "../flags/config-flags.ts";
import { saying } from "../terminal/progress.ts";

export const restart = command({
  description:
    "Restart a server in the daemon of this config: end its processes, and start it again. A call that runs fails. A server that does not run is started, and so is the daemon.",
  args: {
    server: place("Server to restart", { required: true, complete: "server" }),
    ...configArgs,
  },
  examples: ["claudikins daemon restart demo"],
  json: record({ server: text, ended: about("Processes that were ended", number), tools: number }),
  async run(args, io) {
    if (!usesDaemon({}, io.env)) {
      throw new ClaudikinsError("USAGE", "There can be no daemon here, so no server stays running", {
        hint: "Check that CLAUDIKINS_DAEMON is not off, and that HOME is set.",
      });
    }
    const { server } = args;
    const { client, caller } = await daemonOf(args, io);
    const asked = client.post("/restart", { server, ...caller }, io.interrupted);
    const { ended, tools } = (await saying(io.stderr, `Restarting ${server}`, asked)) as {
      ended: number;
      tools: number;
    };
    const words = ended === 0 ? "Started" : "Restarted";
    return { json: { server, ended, tools }, text: `${words} ${server}: ${counted(tools, "tool")}\n` };
  },
});
