/** Many hosts at one address need many connections to servers: more than Bun takes on, unless it is told when it starts. */
import type { Io } from "./io.ts";

/** Bun's own, read once; it takes 256 where nothing is said. Each session holds one or more to each of its network servers. */
const variable = "BUN_CONFIG_MAX_HTTP_REQUESTS";
const sockets = "16384";

/** To be called before anything is started: the process is another one afterwards, where that is possible. */
export function takeMoreSockets({ env, restart }: Pick<Io, "env" | "restart">): void {
  if (env[variable] === undefined) restart?.({ [variable]: sockets });
}
