/** The SDK's client, between two ends of a transport. */
import { describe, expect, test } from "bun:test";
import { InMemoryTransport, type JSONRPCMessage, ProtocolError } from "@modelcontextprotocol/client";
import { Cancellation } from "../../../src/servers/abort.ts";
import { PendingRequests } from "../../../src/servers/connection/pending-requests.ts";
import { ServerClient } from "../../../src/servers/connection/server-client.ts";
import { WatchedTransport } from "../../../src/servers/connection/watched-transport.ts";

const options = () => ({ cancellation: new Cancellation() });

type Answer = { result: Record<string, unknown> } | { error: { code: number; message: string; data?: unknown } };

const greeting = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "s", version: "1" } };

/** Connects to a server that gives this answer to every request after the first, or none. */
async function connected(answer: Answer | undefined, greets: Answer = { result: greeting }) {
  const [transport, server] = InMemoryTransport.createLinkedPair();
  const got: JSONRPCMessage[] = [];
  server.onmessage = (message) => {
    got.push(message);
    if (!("method" in message) || !("id" in message)) return;
    const given = message.method === "initialize" ? greets : answer;
    if (given) void server.send({ jsonrpc: "2.0", id: message.id, ...given } as JSONRPCMessage);
  };
  await server.start();
  const pending = new PendingRequests((message) => watched.send(message));
  const watched = new WatchedTransport(transport, pending);
  const client = new ServerClient({ roots: {} }, pending);
  await client.connect(watched);
  return { client, got };
}

test("a server is asked for the last revision with initialize, and nothing is sent before", async () => {
  const { got } = await connected({ result: {} });
  expect(got).toEqual([
    {
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: {
        protocolVersion: "2025-11-25",
        capabilities: { roots: {} },
        clientInfo: { name: "claudikins", version: expect.any(String) },
      },
    },
    { jsonrpc: "2.0", method: "notifications/initialized" },
  ]);
});

test("a server that only speaks a later revision is not used", async () => {
  const later = { ...greeting, protocolVersion: "2026-07-28" };
  await expect(connected({ result: {} }, { result: later })).rejects.toThrow("protocol version is not supported");
});

test("a result stays as it is, whatever its form", async () => {
  const result = { content: "no list", structuredContent: [1], _meta: { "example.com/a": { b: [null] } }, more: {} };
  const { client } = await connected({ result });
  expect(await client.ask({ method: "tools/call", params: { name: "a" } }, options())).toEqual(result);
});

describe("an error stays as the server sent it", () => {
  const uri = "file:///a";
  test.each([
    [-32_002, { uri }],
    [-32_002, { uri, more: 1 }],
    [-32_602, { uri }],
    [-32_021, { requiredCapabilities: { roots: {} }, more: 1 }],
    [-32_022, { supported: ["2026-07-28"], requested: "2025-11-25", more: 1 }],
    [-32_042, { elicitations: [{ mode: "url", url: "https://example.com", elicitationId: "1" }], more: 1 }],
    [-32_000, "words"],
    [1, undefined],
  ])("%d with %j", async (code, data) => {
    const { client } = await connected({ error: { code, message: "MCP error 5: no", data } });
    const error: unknown = await client
      .ask({ method: "resources/read", params: { uri } }, options())
      .catch((each) => each);
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error).toMatchObject({ code, message: "MCP error 5: no" });
    expect((error as ProtocolError).data).toEqual(data);
  });
});

test("a request that is cancelled is withdrawn", async () => {
  const { client, got } = await connected(undefined);
  const cancellation = new Cancellation();
  const asked = client.ask({ method: "tools/call", params: { name: "a" } }, { cancellation });
  cancellation.cancel("no longer needed");
  await expect(asked).rejects.toThrow("no longer needed");
  const { id } = got.find((each) => "method" in each && each.method === "tools/call") as { id: number };
  expect(got.at(-1)).toEqual({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: id, reason: "no longer needed" },
  });
});

test("a request that was cancelled before it was sent is not sent", async () => {
  const { client, got } = await connected(undefined);
  const cancellation = new Cancellation();
  cancellation.cancel("too late");
  const sent = got.length;
  await expect(client.ask({ method: "ping" }, { cancellation })).rejects.toThrow("too late");
  expect(got.length).toBe(sent);
});

test("requests fail when the connection is closed", async () => {
  const { client } = await connected(undefined);
  const asked = client.ask({ method: "tools/call", params: { name: "a" } }, options());
  await client.close();
  await expect(asked).rejects.toThrow("Connection closed");
});
