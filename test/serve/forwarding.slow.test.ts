/** Requests of servers go to the host's model, person and roots, in both modes and over both transports. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { openHost, type TestHost } from "../support/host.ts";
import { httpServe } from "../support/http-serve.ts";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });
beforeEach(() => {
  folder.write("claudikins.json", {
    mcpServers: { asker: fixture("protocol", "stdio", folder.path), newer: fixture("modern", "reject", folder.path) },
  });
});

type Ask = (tool: string, args?: object, options?: object) => Promise<unknown>;

/** For each mode, the value of one tool call of the server `asker`. */
const modes: Record<string, (host: TestHost) => Ask> = {
  code:
    (host) =>
    async (tool, args = {}, options) => {
      const code = `return JSON.stringify({ value: await asker[${JSON.stringify(tool)}](${JSON.stringify(args)}) })`;
      const result = await host.request("tools/call", { name: "execute_code", arguments: { code } }, options);
      const [{ text = "" } = {}] = result["content"] as { text?: string }[];
      return JSON.parse(text.split("\n\n")[0] ?? "").value;
    },
  direct: (host) => async (tool, args, options) => {
    const result = await host.request("tools/call", { name: tool, ...(args ? { arguments: args } : {}) }, options);
    const [{ text = "" } = {}] = result["content"] as { text?: string }[];
    return JSON.parse(text);
  },
};

const capabilities = { sampling: { tools: {} }, elicitation: { form: {}, url: {} }, roots: { listChanged: true } };
const sampled = { role: "assistant" as const, content: { type: "text" as const, text: "four" }, model: "m" };
const roots = [{ uri: "file:///work", name: "work" }];

const question = {
  messages: [{ role: "user", content: { type: "text", text: "2 + 2?" } }],
  maxTokens: 10,
  modelPreferences: { hints: [{ name: "small" }] },
  temperature: 0.5,
};
const form = {
  message: "Who are you?",
  requestedSchema: {
    type: "object",
    properties: {
      name: { type: "string", default: "nobody" },
      kind: { type: "string", oneOf: [{ const: "a", title: "A" }] },
      old: { type: "string", enum: ["x"], enumNames: ["X"] },
      many: { type: "array", items: { type: "string", enum: ["1", "2"] } },
    },
    required: ["kind"],
  },
};
const page = { mode: "url", message: "Sign in", url: "https://example.com/sign-in", elicitationId: "7" };

function answering(asked: unknown[]) {
  return (client: Client) => {
    client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
      asked.push(params);
      return sampled;
    });
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params);
      return { action: "accept", content: { kind: "a", many: ["1"] } };
    });
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots }));
  };
}

describe.each(Object.keys(modes))("%s mode", (mode) => {
  describe.each(["stdio", "http"])("over %s", (way) => {
    /** Runs work with a host, which disconnects after it. */
    async function asHost<T>(work: (ask: Ask, host: TestHost) => Promise<T>, options: object = {}): Promise<T> {
      await using door = way === "http" ? await httpServe(folder, ["--mode", mode]) : undefined;
      const reached = door ? { url: door.url } : { flags: ["--mode", mode] };
      await using host = await openHost(folder, { ...reached, ...options });
      return await work(modes[mode]!(host), host);
    }

    test("sampling, elicitation and roots are requested from the host, and its answers go to the server", async () => {
      const asked: unknown[] = [];
      const ask = (tool: Ask, method: string, params: object = {}) => tool("ask", { method, params });
      await asHost(
        async (tool, host) => {
          expect(await tool("capabilities")).toEqual({
            ...capabilities,
            elicitation: { form: { applyDefaults: true }, url: {} },
          });
          expect(await ask(tool, "sampling/createMessage", question)).toEqual({ result: sampled });
          expect(await ask(tool, "elicitation/create", form)).toEqual({
            result: { action: "accept", content: { name: "nobody", kind: "a", many: ["1"] } },
          });
          expect(await ask(tool, "elicitation/create", page)).toMatchObject({ result: { action: "accept" } });
          expect(await ask(tool, "roots/list")).toEqual({ result: { roots } });
          await tool("notify", { method: "notifications/elicitation/complete", params: { elicitationId: "7" } });
          expect(await host.hears("notifications/elicitation/complete")).toEqual({ elicitationId: "asker:7" });
          await host.client.sendRootsListChanged();
          while ((await tool("seen").then((seen) => Object(seen).rootsChanged)) === 0) await host.client.ping();
        },
        { capabilities, prepare: answering(asked) },
      );
      const _meta = { "claudikins/server": "asker" };
      expect(asked).toEqual([
        { ...question, _meta },
        { ...form, mode: "form", message: "[asker] Who are you?", _meta },
        { ...page, message: "[asker] Sign in", elicitationId: "asker:7", _meta },
      ]);
    });

    test("questions of a server of 2026-07-28 are requested from the host as well", async () => {
      const asked: { message?: string }[] = [];
      const prepare = (client: Client) => {
        answering([])(client);
        client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
          asked.push(params);
          return { action: "accept", ...(params.mode === "url" ? {} : { content: { name: "Ada" } }) };
        });
      };
      await asHost(
        async (_, host) => {
          const texts = async (...tools: string[]) => {
            const code = `return JSON.stringify(await Promise.all([${tools.map((tool) => `newer.${tool}({})`)}]))`;
            const calls = mode === "code" ? [["execute_code", { code }]] : tools.map((tool) => [tool, {}]);
            const results = await Promise.all(calls.map(([name, args]) => host.call(String(name), Object(args))));
            return JSON.stringify(results);
          };
          expect(await texts("greet", "pair")).toMatch(/hello Ada.*Ada and Ada/);
          expect(await texts("visit")).toContain("accept");
          expect(await texts("consult")).toContain("four");
          expect(await texts("places")).toContain("file:///work");
        },
        { capabilities, prepare },
      );
      expect(asked.map(({ message }) => message).sort()).toEqual([
        "[newer] First?",
        "[newer] Open it",
        "[newer] Second?",
        "[newer] Who are you?",
      ]);
    });

    test("a host without these capabilities gets no requests, and its servers get an error", async () => {
      await asHost(async (tool) => {
        expect(await tool("capabilities")).toEqual({});
        expect(await tool("ask", { method: "sampling/createMessage", params: question })).toEqual({
          error: { code: -32_601, message: "MCP error -32601: claudikins: the host does not support sampling" },
        });
      });
    });

    test("cancelling a call cancels the server's question at the host, and cancelling at the server does too", async () => {
      const asked = Promise.withResolvers<void>();
      const ended: string[] = [];
      const prepare = (client: Client) =>
        client.setRequestHandler(ElicitRequestSchema, async (_, { signal }) => {
          asked.resolve();
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          ended.push("cancelled");
          return { action: "cancel" };
        });
      await asHost(
        async (tool, { client }) => {
          const cancel = new AbortController();
          const call = tool("ask", { method: "elicitation/create", params: form }, { signal: cancel.signal });
          await asked.promise;
          cancel.abort();
          await expect(call).rejects.toThrow();
          while (ended.length === 0) await client.ping();
        },
        { capabilities: { elicitation: {} }, prepare },
      );
      expect(ended).toEqual(["cancelled"]);
    });
  });
});

test("in direct mode the pages of a server reach the host unchanged, except deceptive ones", async () => {
  await using host = await openHost(folder, { flags: ["--mode", "direct"], capabilities });
  const error = await host.request("tools/call", { name: "needs-page" }).then(
    () => undefined,
    (thrown: { code: number; data: { elicitations: { url: string; elicitationId: string }[] } }) => thrown,
  );
  expect(error?.code).toBe(-32_042);
  expect(error?.data.elicitations.map(({ url, elicitationId }) => [url, elicitationId])).toEqual([
    ["https://example.com/sign-in", "asker:0"],
    ["https://example.com/pay", "asker:4"],
  ]);
});
