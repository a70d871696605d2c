/** A proxy before Postgres that cuts a connection at its COMMIT: before the server gets it, or after the server has committed. */
import type { Socket } from "bun";

interface CuttingProxy extends AsyncDisposable {
  port: number;
  /** Cuts the next connection that commits. */
  cutNext(): void;
  cuts: number;
}

interface Ends {
  client: Socket<Ends>;
  server?: Socket<Ends>;
  /** What has come before the connection to the server. */
  early: Uint8Array[];
  /** The answers of the server are dropped. */
  isCut: boolean;
}

export async function cuttingProxy(serverPort: number, when: "before" | "after"): Promise<CuttingProxy> {
  let isWanted = false;
  const proxy: CuttingProxy = {
    port: 0,
    cuts: 0,
    cutNext: () => {
      isWanted = true;
    },
    [Symbol.asyncDispose]: async () => listener.stop(true),
  };
  const toServer = (ends: Ends, bytes: Uint8Array) => {
    const commits = isWanted && Buffer.from(bytes).includes("COMMIT");
    if (commits) {
      isWanted = false;
      proxy.cuts += 1;
      ends.isCut = true;
    }
    if (!commits || when === "after") ends.server?.write(bytes);
    else ends.client.end();
  };
  const listener = Bun.listen<Ends>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: async (client) => {
        const ends: Ends = { client, early: [], isCut: false };
        client.data = ends;
        ends.server = await Bun.connect<Ends>({
          hostname: "127.0.0.1",
          port: serverPort,
          data: ends,
          socket: {
            // Its answer to COMMIT says that it has committed.
            data: (_, bytes) => void (ends.isCut ? client.end() : client.write(bytes)),
            close: () => void client.end(),
          },
        });
        for (const bytes of ends.early) toServer(ends, bytes);
      },
      data: ({ data: ends }, bytes) => {
        if (ends.server) toServer(ends, bytes);
        else ends.early.push(bytes);
      },
      close: ({ data: ends }) => void ends?.server?.end(),
    },
  });
  proxy.port = listener.port;
  return proxy;
}
