/** A server that several users share: how long its process stays without use. */
import { expect, test } from "bun:test";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { silentLog } from "../../src/base/log.ts";
import { type Port, SharedServer } from "../../src/daemon/shared/shared-server.ts";
import type { Channel } from "../../src/servers/connection/channel.ts";
import { eventually } from "../support/eventually.ts";

const idleMs = 200;

/** A server that answers every request with an empty result. */
function answering(): { server: SharedServer; hasEnded: () => boolean } {
  let hasEnded = false;
  const transport = {
    start: async () => {},
    close: async () => {},
    send: async (message: JSONRPCMessage) => {
      if ("id" in message && "method" in message)
        queueMicrotask(() => transport.onmessage?.({ jsonrpc: "2.0", id: message.id, result: {} }));
    },
    onmessage: undefined as ((message: JSONRPCMessage) => void) | undefined,
  };
  const channel = { transport, pid: () => undefined, ended: () => "", lastWords: () => [], failure: () => undefined };
  const server = new SharedServer({
    name: "shop",
    capabilities: {},
    idleMs,
    isOfOne: false,
    log: silentLog,
    open: async () => channel as unknown as Channel,
    onAsks: () => {},
    onEnd: () => {
      hasEnded = true;
    },
  });
  return { server, hasEnded: () => hasEnded };
}

/** A user that has initialized the server, and has got an answer to a request. */
async function user(server: SharedServer): Promise<Port> {
  const got: JSONRPCMessage[] = [];
  const port: Port = { session: "s", send: (message) => got.push(message), end: () => {} };
  server.attach(port);
  await server.started;
  server.receive(port, { jsonrpc: "2.0", id: 0, method: "initialize", params: {} });
  server.receive(port, { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
  await eventually(() => got.length === 2);
  return port;
}

test("a process ends with a user that has not used it for the idle time", async () => {
  const { server, hasEnded } = answering();
  const port = await user(server);
  await Bun.sleep(idleMs + 50);
  expect(hasEnded()).toBe(false);
  server.detach(port);
  await eventually(hasEnded, { withinMs: 100 });
});

test("a process stays for the idle time after the use of a user that leaves, and for the next user", async () => {
  const { server, hasEnded } = answering();
  server.detach(await user(server));
  expect(hasEnded()).toBe(false);
  const next = await user(server);
  await Bun.sleep(idleMs + 50);
  expect(hasEnded()).toBe(false);
  server.detach(next);
  await eventually(hasEnded);
});

test("a process that nobody has used ends with its last user", async () => {
  const { server, hasEnded } = answering();
  const port: Port = { session: "s", send: () => {}, end: () => {} };
  server.attach(port);
  await server.started;
  server.detach(port);
  await eventually(hasEnded);
});
