/** `claudikins serve`: what stands in an agent's MCP config. */
import { serveStdio } from "../../server/serve.ts";
import { command, commonArgs } from "../command.ts";
import { openToolbox } from "../session.ts";

export default command({
  name: "serve",
  description: "Speak MCP on stdin and stdout. Offers search_tools and execute_code over all configured servers.",
  args: { config: commonArgs.config },
  examples: ["claudikins serve", "claude mcp add claudikins -- claudikins serve"],
  async run(args, io) {
    await using toolbox = await openToolbox(io, args.config);
    await serveStdio(toolbox, io.interrupted);
    return 0;
  },
});
