/** Leads to a server that is a part of claudikins, in this process. */
import type { Transport } from "@modelcontextprotocol/client";
import type { Server } from "@modelcontextprotocol/server";
import type { Channel } from "./channel.ts";

/** The server ends with its connection. */
export async function memoryChannel(server: Server): Promise<Channel> {
  const { InMemoryTransport } = await import("@modelcontextprotocol/server");
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(theirs);
  return {
    transport: ours as Transport,
    pid: () => undefined,
    ended: () => "",
    lastWords: () => [],
    failure: () => undefined,
  };
}
