/** The held servers as the daemon itself uses them, for those who ask it to call their tools. */

import { type LineMaker, lineTo } from "../../clients/transport.ts";
import type { Environment } from "../../config/environment.ts";
import type { HeldServers } from "./held-servers.ts";
import type { Port } from "./port.ts";
import { SharedTransport, sharedLine } from "./shared-line.ts";

/** As `session`. Servers on the network are reached as ever. */
export function localLines(held: HeldServers, env: Environment, session: string): LineMaker {
  return async (server, options, { capabilities }) => {
    if (server.url !== undefined) return lineTo(server, options);
    // It hears nothing before it is listened to: what comes early is kept.
    const port: Port = {
      session,
      send: (message) => transport.receive(message),
      end: (how) => transport.ended(how),
    };
    const { cwd } = options;
    const user = held.attach({ server, cwd, env, capabilities, session, isShort: false }, port);
    const transport: SharedTransport = new SharedTransport({
      started: user.started,
      send(message) {
        user.receive(port, message);
        return true;
      },
      close: () => user.detach(port),
    });
    return sharedLine(transport, () => user.pid);
  };
}
