/**
 * Serves requests by passing them on to the address in the first argument, and prints its own address. For a test of what comes on stderr.
 */
import { passOn } from "../../../src/serve/http/replicas/pass.ts";

const [url = ""] = process.argv.slice(2);
const isGone = new AbortController().signal;
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    const answer = await passOn({
      request,
      path: "/mcp",
      body: "{}",
      url,
      headers: {},
      stayOpen: () => {},
      isGone,
      open: undefined,
      ending: isGone,
    });
    return answer ?? new Response("not passed on", { status: 500 });
  },
});
console.log(server.url.origin);
