/** Servers of both eras of the protocol in one pool. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { MessageTrace } from "../../src/servers/connection/trace.ts";
import { eventually } from "../support/eventually.ts";
import { ownPool } from "../support/own-pool.ts";
import { failureOf, plainValue, type ServerEntry } from "../support/pool.ts";
import { processesWith } from "../support/process.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

const own = ownPool();

function open(entries: Record<string, ServerEntry>): void {
  own.open(entries);
}

/** The text of the error, which is a result or was thrown. */
async function errorOf(tool: string, args: object): Promise<string> {
  const result = await own.pool.callTool("modern", tool, args).catch((error: Error) => error.message);
  return typeof result === "string" ? result : JSON.stringify(result);
}

const value = async (server: string, tool: string, args: object = {}) =>
  plainValue(await own.pool.callTool(server, tool, args));

/** A host whose person answers each form with the first name that is left. */
function hostWith(...names: string[]) {
  const asked: string[] = [];
  own.pool.setHost({
    responder: {
      capabilities: { elicitation: { form: {} } },
      elicit: async ({ message }) => {
        asked.push(message);
        const name = names.shift();
        return name === undefined ? { action: "decline" } : { action: "accept", content: { name } };
      },
    },
  });
  return asked;
}

describe.each([
  ["with only 2026-07-28", "reject", "modern"],
  ["with both eras", "serve", "legacy"],
])("a server %s, over stdio", (_, older, era) => {
  beforeEach(() => open({ modern: fixture("modern", older, own.mark) }));

  test("is used in one process, which is not started for a probe", async () => {
    expect(await value("modern", "era")).toBe(era);
    expect(await value("modern", "echo", { value: "hello" })).toBe("hello");
    expect(processesWith(own.mark)).toHaveLength(1);
    expect((await own.pool.listTools("modern")).map(({ name }) => name)).toContain("greet");
  });

  test("returns results of any size, and its own errors", async () => {
    const { rows } = (await value("modern", "large", { rows: 20_000 })) as { rows: { id: number }[] };
    expect([rows.length, rows.at(-1)?.id]).toEqual([20_000, 19_999]);
    expect(await own.pool.callTool("modern", "fail", {})).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "it went wrong" }],
    });
    expect(await errorOf("echo", { value: 1 })).toContain("expected string");
  });

  test("gets answers to its questions, also to several at once", async () => {
    const asked = hostWith("Ada", "Grace", "Alan");
    expect(await value("modern", "greet")).toBe("hello Ada");
    expect(await value("modern", "pair")).toBe("Grace and Alan");
    expect(asked).toEqual(["[modern] Who are you?", "[modern] First?", "[modern] Second?"]);
    expect(await value("modern", "declined")).toBe("decline");
  });

  test("stays connected when the host cannot answer, and the call fails with the reason", async () => {
    own.pool.setHost({
      responder: {
        capabilities: { elicitation: { form: {} } },
        elicit: () => Promise.reject(new Error("the person has left")),
      },
    });
    const error = await errorOf("greet", {});
    expect(error).toContain("the person has left");
    expect(error).not.toContain("is gone");
    expect(await value("modern", "era")).toBe(era);
    expect(processesWith(own.mark)).toHaveLength(1);
  });

  test("stays connected when it asks without end, and the call fails", async () => {
    hostWith(...Array.from({ length: 20 }, () => "Ada"));
    if (era === "modern") expect(await errorOf("insist", {})).toContain("asked again after ten answers");
    expect(await value("modern", "era")).toBe(era);
    expect(processesWith(own.mark)).toHaveLength(1);
  });

  test("is refused its questions without a host, with an error that says so", async () => {
    expect(await errorOf("greet", {})).toContain("elicitation");
  });

  test("announces changes of its tools", async () => {
    const changed = Promise.withResolvers<string>();
    own.pool.onListChanged((server, what) => changed.resolve(`${server} ${what}`));
    await value("modern", "grow");
    expect(await changed.promise).toBe("modern tools");
    expect(await value("modern", "ripened")).toBe("ripened");
  });

  test("learns that a call is cancelled", async () => {
    const cancel = new AbortController();
    const call = failureOf(own.pool.callTool("modern", "wait", {}, { signal: cancel.signal }));
    await eventually(async () => (await value("modern", "waiting")) === 1);
    cancel.abort();
    expect((await call).code).toBe("CANCELLED");
    await eventually(async () => (await value("modern", "waiting")) === 0);
  });
});

describe("a server of 2026-07-28", () => {
  beforeEach(() => open({ modern: fixture("modern", "reject", own.mark) }));

  test("announces changes of resources that have a listener, until there is none", async () => {
    const changed: string[] = [];
    const end = await own.pool.subscribe("modern", "note://one", (uri) => changed.push(uri));
    await value("modern", "edit");
    await eventually(() => changed.length > 0);
    expect(changed).toEqual(["note://one"]);
    expect(await own.pool.readResource("modern", "note://one")).toMatchObject({ contents: [{ text: "a note" }] });
    end();
    await value("modern", "edit");
    await value("modern", "echo", { value: "later" });
    expect(changed).toEqual(["note://one"]);
  });

  test("sends log messages from the level that the host has chosen", async () => {
    const said = Promise.withResolvers<unknown>();
    own.pool.onLog((_, message) => said.resolve(message["data"]));
    await value("modern", "era");
    await own.pool.setLogLevel("debug");
    await value("modern", "say");
    expect(await said.promise).toBe("as you wish");
  });

  test("may ask to open a page, which gets an id for hosts of the older era", async () => {
    const asked: unknown[] = [];
    own.pool.setHost({
      responder: {
        capabilities: { elicitation: { url: {} } },
        elicit: async (params) => {
          asked.push(params);
          return { action: "accept" };
        },
      },
    });
    expect(await value("modern", "visit")).toBe("accept");
    expect(asked).toMatchObject([
      { mode: "url", url: "https://example.com/visit", elicitationId: expect.stringMatching(/^modern:[\w-]{36}$/) },
    ]);
  });
});

test("a server that refuses initialize is asked once more, in the newer era, and its first refusal is the error", async () => {
  const sent: string[] = [];
  const trace = new MessageTrace(({ direction, kind, method }) => {
    if (direction === "sent" && kind === "request") sent.push(method);
  });
  own.open({ modern: fixture("by-hand", "refuses", own.mark) }, { trace });
  expect((await failureOf(own.pool.listTools("modern"))).message).toContain("no license");
  trace.flush();
  expect(sent).toEqual(["initialize", "server/discover"]);
});

describe.each([
  ["with only 2026-07-28", "reject", "modern"],
  ["with both eras", "serve", "legacy"],
])("a server %s, over HTTP", (_, older, era) => {
  let child: Bun.Subprocess<"ignore", "pipe">;
  beforeEach(async () => {
    const { command, args } = fixture("modern", older, "http", own.mark);
    child = Bun.spawn([command, ...args], { stdin: "ignore", stdout: "pipe", stderr: "ignore" });
    const { value: line } = await child.stdout.getReader().read();
    open({ modern: { url: `http://127.0.0.1:${new TextDecoder().decode(line).trim()}/mcp` } });
  });
  afterEach(async () => {
    child.kill("SIGKILL");
    await child.exited;
  });

  test("is used in its era", async () => {
    expect(await value("modern", "era")).toBe(era);
    expect(await value("modern", "echo", { value: "hello" })).toBe("hello");
    expect((await own.pool.listTools("modern")).map(({ name }) => name)).toContain("greet");
  });

  test("returns results of any size, and its own errors", async () => {
    const { rows } = (await value("modern", "large", { rows: 20_000 })) as { rows: { id: number }[] };
    expect([rows.length, rows.at(-1)?.id]).toEqual([20_000, 19_999]);
    expect(await errorOf("fail", {})).toContain("it went wrong");
    expect(await errorOf("echo", { value: 1 })).toContain("expected string");
    expect(await errorOf("nothing", {})).toContain("nothing");
  });

  test("learns that a call is cancelled", async () => {
    const cancel = new AbortController();
    const call = failureOf(own.pool.callTool("modern", "wait", {}, { signal: cancel.signal }));
    await eventually(async () => (await value("modern", "waiting")) === 1);
    cancel.abort();
    expect((await call).code).toBe("CANCELLED");
    if (era === "modern") await eventually(async () => (await value("modern", "waiting")) === 0);
  });

  test("gets marked arguments as headers too, if its era has them", async () => {
    const args = { region: " us-west1", options: { shard: 7, dry: true } };
    const headers =
      era === "modern"
        ? { "mcp-param-region": "=?base64?IHVzLXdlc3Qx?=", "mcp-param-shard": "7", "mcp-param-dry": "true" }
        : {};
    // The tools were not listed yet.
    expect(await value("modern", "route", args)).toEqual({ args, headers, rows: [] });
    expect(await value("modern", "route", { region: "eu" })).toMatchObject({
      headers: era === "modern" ? { "mcp-param-region": "eu" } : {},
    });
    expect(await value("modern", "route", {})).toEqual({ args: {}, headers: {}, rows: [] });
    const large = (await value("modern", "route", { region: "eu", rows: 20_000 })) as { rows: unknown[] };
    expect(large.rows).toHaveLength(20_000);
    await value("modern", "rename");
    expect(await value("modern", "route", { region: "eu" })).toMatchObject({
      headers: era === "modern" ? { "mcp-param-place": "eu" } : {},
    });
    const names = (await own.pool.listTools("modern")).map(({ name }) => name);
    expect([names.includes("route"), names.includes("twice")]).toEqual([true, era !== "modern"]);
  });

  if (era === "modern") {
    test("gets answers to its questions, also to several at once", async () => {
      const asked = hostWith("Ada", "Grace", "Alan");
      expect(await value("modern", "greet")).toBe("hello Ada");
      expect(await value("modern", "pair")).toBe("Grace and Alan");
      expect(asked).toEqual(["[modern] Who are you?", "[modern] First?", "[modern] Second?"]);
      expect(await value("modern", "declined")).toBe("decline");
    });
  }
});
