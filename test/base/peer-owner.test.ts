/** The owner of a connection is found by both of its ends, in the tables of IPv4 and IPv6, and never guessed. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { connect, createServer, type Server, type Socket } from "node:net";
import { userOfSocket } from "../../src/base/inet-diag.ts";
import { type ConnectionEnd, problemOfPeer } from "../../src/base/peer-owner.ts";
import { eventually } from "../support/eventually.ts";

setDefaultTimeout(60_000);

/** Stands for a system that answers only by the tables of /proc. */
const knowsNothing = () => undefined;

const isLinux = process.platform === "linux";

const servers: Server[] = [];
const sockets: Socket[] = [];
afterAll(() => {
  for (const each of sockets) each.destroy();
  for (const each of servers) each.close();
});

/** Both ends of a new connection to this process. */
async function connected(
  listening: string,
  to: string,
  from: string,
): Promise<{ peer: ConnectionEnd; own: ConnectionEnd }> {
  const accepted = Promise.withResolvers<Socket>();
  const server = createServer(accepted.resolve);
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, listening, done));
  const { port } = server.address() as { port: number };
  sockets.push(connect({ host: to, port, localAddress: from }));
  const socket = await accepted.promise;
  sockets.push(socket);
  return {
    peer: { address: socket.remoteAddress!, port: socket.remotePort! },
    own: { address: socket.localAddress!, port: socket.localPort! },
  };
}

describe.skipIf(!isLinux)("on Linux, a connection of this user is known", () => {
  test.each([
    ["127.0.0.1", "127.0.0.1", "127.0.0.1"],
    ["127.0.0.1", "127.0.0.1", "127.200.3.4"],
    ["127.0.0.1", "::ffff:127.0.0.1", "::ffff:127.0.0.2"],
    ["127.0.0.3", "127.0.0.3", "127.0.0.1"],
    ["::1", "::1", "::1"],
    ["::", "127.0.0.1", "127.0.0.5"],
  ])("to %s at %s, from %s", async (listening, to, from) => {
    const { peer, own } = await connected(listening, to, from);
    expect(await problemOfPeer(peer, own)).toBeUndefined();
    expect(await problemOfPeer(peer, own, knowsNothing)).toBeUndefined();
  });

  test("without the tables of /proc", async () => {
    const { peer, own } = await connected("127.0.0.1", "127.0.0.1", "127.0.0.1");
    const bytes = [127, 0, 0, 1];
    expect(userOfSocket(bytes, peer.port, bytes, own.port)).toBe(process.getuid!());
    // A listening socket does not count as open, and a connection that its program has closed has no owner.
    expect(userOfSocket(bytes, own.port, bytes, 1)).toBeUndefined();
    sockets.at(-2)!.destroy();
    await eventually(() => userOfSocket(bytes, peer.port, bytes, own.port) === undefined);
  });
});

describe.skipIf(!isLinux)("on Linux, a connection is refused", () => {
  let known: { peer: ConnectionEnd; own: ConnectionEnd };
  beforeAll(async () => {
    known = await connected("127.0.0.1", "127.0.0.1", "127.0.0.2");
  });

  test.each([
    ["if its peer is not told", () => null, () => known.own],
    ["from another port", ({ address, port }: ConnectionEnd) => ({ address, port: port ^ 1 }), () => known.own],
    ["from another address", ({ port }: ConnectionEnd) => ({ address: "127.0.0.1", port }), () => known.own],
    [
      "to another port",
      (peer: ConnectionEnd) => peer,
      ({ address, port }: ConnectionEnd) => ({ address, port: port ^ 1 }),
    ],
    [
      "to another address",
      (peer: ConnectionEnd) => peer,
      ({ port }: ConnectionEnd) => ({ address: "127.0.0.9", port }),
    ],
    ["from our own end", () => known.own, () => known.own],
  ])("%s", async (_, peer, own) => {
    for (const userOf of [undefined, knowsNothing]) {
      const problem = await problemOfPeer(peer(known.peer), own(known.own), userOf);
      expect(problem?.message).toBe("No program on this machine owns this connection, so its user is not known");
    }
  });
});
