/** `claudikins demo`: the built-in demo server on stdin and stdout, as any MCP server. */
import { startDemo } from "../../demo/server.ts";
import { command } from "../command.ts";

export default command({
  description:
    "Run the built-in demo MCP server on stdin and stdout: a small shop's back office with made-up data. It is used when nothing is configured.",
  args: {},
  examples: ["claudikins demo"],
  async run() {
    await startDemo();
    return {};
  },
});
