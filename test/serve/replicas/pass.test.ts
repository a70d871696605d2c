/** Requests that are passed on to a replica that dies while it answers. */
import { expect, test } from "bun:test";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";

test("an answer that breaks off breaks off for the client too, and prints nothing", async () => {
  const dying = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
      socket.write(`${head}9\r\ndata: 1\n\n\r\n`);
      setTimeout(() => socket.resetAndDestroy(), 50);
    });
  }).listen(0, "127.0.0.1");
  await once(dying, "listening");
  const { port } = dying.address() as AddressInfo;
  const script = join(import.meta.dir, "pass-on.ts");
  await using passing = Bun.spawn([process.execPath, script, `http://127.0.0.1:${port}`], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const lines = createInterface(Readable.fromWeb(passing.stdout as never));
  const [origin] = await once(lines, "line");
  const response = await fetch(String(origin), { method: "POST", body: "{}" });
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow("closed");
  passing.kill();
  expect(await passing.stderr.text()).toBe("");
  dying.close();
});
