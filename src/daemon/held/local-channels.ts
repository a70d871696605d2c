/** Channels to held servers for the daemon itself, which calls tools for callers over HTTP. */

import type { ChannelOpener } from "../../clients/channel.ts";
import { openChannel } from "../../clients/open-channel.ts";
import type { Environment } from "../../config/environment.ts";
import type { HeldServers } from "./held-servers.ts";
import type { Port } from "./port.ts";
import { SharedTransport, sharedChannel } from "./shared-channel.ts";

/** Channels for one session. Servers on the network are connected to directly. */
export function localChannels(held: HeldServers, env: Environment, session: string): ChannelOpener {
  return async (server, options) => {
    if (server.url !== undefined) return openChannel(server, options);
    // The transport keeps messages that come before it is started.
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
