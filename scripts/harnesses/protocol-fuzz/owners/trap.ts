/** A listener to which nothing may connect: hostile requests name its address wherever a server could be made to send a request. */
import { type AddressInfo, createServer, type Server } from "node:net";

export interface Trap extends AsyncDisposable {
  port: number;
  /** The beginning of what arrived with each connection since the last look. */
  caught(): string[];
}

const shownChars = 200;

/** Time after which a connection that sends nothing is written down. */
const silentMs = 200;

export async function openTrap(): Promise<Trap> {
  let caught: string[] = [];
  const server = createServer((socket) => {
    const note = (text: string) => {
      caught.push(text.slice(0, shownChars));
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 7\r\nconnection: close\r\n\r\ntrapped");
    };
    const silent = setTimeout(() => note("a connection without data"), silentMs);
    socket.on("error", () => {});
    socket.once("data", (bytes) => {
      clearTimeout(silent);
      note(bytes.toString("latin1"));
    });
  });
  await listening(server);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    caught() {
      const all = caught;
      caught = [];
      return all;
    },
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
}
