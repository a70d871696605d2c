/** `claudikins serve`: what stands in an agent's MCP config, and with `--http` an address for many of them. */
import { command, commonArgs } from "../command.ts";
import { parseAddress } from "../flags.ts";
import type { Io } from "../io.ts";
import { openToolbox } from "../session.ts";

export default command({
  name: "serve",
  description: "Speak MCP on stdin and stdout. Offers search_tools and execute_code over all configured servers.",
  args: {
    config: commonArgs.config,
    http: {
      type: "string",
      valueHint: "[host:]port",
      description: "Speak MCP over HTTP there; port 0 is any free one",
    },
    json: { ...commonArgs.json, description: "With --http: say the address as JSON, in one line" },
  },
  examples: ["claudikins serve", "claude mcp add claudikins -- claudikins serve", "claudikins serve --http 4600"],
  async run(args, io) {
    const address = args.http === undefined ? undefined : parseAddress(args.http, "--http");
    await using toolbox = await openToolbox(io, args.config);
    if (!address) {
      const { serveStdio } = await import("../../server/stdio.ts");
      await serveStdio(toolbox, io.interrupted);
      return 0;
    }
    const { FrontDoor } = await import("../../server/http/front-door.ts");
    const door = new FrontDoor(toolbox, address);
    await io.stdout.write(args.json ? `${JSON.stringify({ url: door.url })}\n` : `${door.url}\n`);
    await interruption(io);
    await door.close();
    return 0;
  },
});

function interruption({ interrupted }: Io): Promise<void> {
  return new Promise((resolve) => {
    if (interrupted.aborted) resolve();
    interrupted.addEventListener("abort", () => resolve(), { once: true });
  });
}
