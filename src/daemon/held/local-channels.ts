/** The held servers as the daemon itself uses them, for those who ask it to call their tools. */

import type { ChannelOpener } from "../../clients/channel.ts";
import { openChannel } from "../../clients/open-channel.ts";
import type { Environment } from "../../config/environment.ts";
import type { HeldServers } from "./held-servers.ts";
import type { Port } from "./port.ts";
import { SharedTransport, sharedChannel } from "./shared-channel.ts";

/** As `session`. Servers on the network are reached as ever. */
export function localChannels(held: HeldServers, env: Environment, session: string): ChannelOpener {
  return async (server, options) => {
    if (server.url !== undefined) return openChannel(server, options);
    // It hears nothing before it is listened to: what comes early is kept.
    const port: Port = {
      session,
      send: (message) => transport.receive(message),
      end: (how) => transport.ended(how),
    };
    const { cwd, capabilities } = options;
    const user = held.attach({ server, cwd, env, capabilities, session, isShort: false }, port);
    const transport: SharedTransport = new SharedTransport({
      started: user.started,
      send(message) {
        user.receive(port, message);
        return true;
      },
      close: () => user.detach(port),
    });
    return sharedChannel(transport, () => user.pid);
  };
}
