/** A proxy before Postgres that can stand still: connections are taken and stay open, and nothing is passed on. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface FreezingProxy extends AsyncDisposable {
  port: number;
  freeze(): void;
  thaw(): void;
}

export async function freezingProxy(serverPort: number): Promise<FreezingProxy> {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const pass = (from: Socket, to: Socket) => {
    sockets.add(from);
    if (isFrozen) from.pause();
    from.on("data", (bytes) => void to.write(bytes));
    from.on("close", () => {
      sockets.delete(from);
      to.destroy();
    });
    from.on("error", () => {});
  };
  const listener = createServer((client) => {
    const server = connect(serverPort, "127.0.0.1");
    pass(client, server);
    pass(server, client);
    if (isFrozen) client.pause();
  }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  return {
    port: (listener.address() as AddressInfo).port,
    freeze: () => {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw: () => {
      isFrozen = false;
      for (const socket of sockets) socket.resume();
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      listener.close();
    },
  };
}
