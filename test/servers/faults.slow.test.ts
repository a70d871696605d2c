/** Errors for every way in which a server fails, with real processes and sockets, and unusual behaviour that is not a failure. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { ClaudikinsError } from "../../src/base/errors.ts";
import type { Pool } from "../../src/servers/pool.ts";
import type { ToolResult } from "../../src/servers/result.ts";
import { root } from "../support/claudikins.ts";
import { freePort } from "../support/free-port.ts";
import { type NetworkFixture, networkFixture } from "../support/network.ts";
import { ownFolder } from "../support/own-folder.ts";
import { failureOf, failureText, openPool, type ServerEntry, surroundings } from "../support/pool.ts";
import { fixture } from "../support/servers.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

const folder = ownFolder({ isShared: true, endsProcesses: true });

const secret = "s3cret";

/** The error of a failed use, which must name the server, say what happened and what to do, and nothing else. */
async function wordsOf(name: string, entry: ServerEntry, use: (pool: Pool) => Promise<unknown>): Promise<string> {
  const pool = openPool({ [name]: entry }, surroundings(folder.path));
  try {
    const error = await failureOf(use(pool));
    expectClear(error, name);
    return failureText(error, folder.path);
  } finally {
    await pool.close();
  }
}

function expectClear({ code, message, hint = "" }: ClaudikinsError, name: string): void {
  const [first = "", ...words] = message.split("\n");
  expect(first).toContain(name);
  // What happened, without the name.
  expect(first.replaceAll(name, "").length).toBeGreaterThan(20);
  expect(words.filter((line) => !/^ {2}\| ./.test(line))).toEqual([]);
  // A tool's own error says what to do.
  if (code !== "TOOL_FAILED" && code !== "INVALID_ARGUMENTS") expect(hint).toMatch(/^[^\n]{10,}\.$/);
  for (const text of [message, hint]) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain(root);
    expect(text).not.toContain(process.execPath);
    expect(text).not.toMatch(/^\s*\|?\s*at .*:\d+/m);
    expect(text).not.toMatch(/undefined|\[object/);
  }
}

const byHand = (what: string, more: Partial<ServerEntry> = {}): ServerEntry =>
  ({ ...fixture("by-hand", what, folder.path, secret), env: { TOKEN: secret }, ...more }) as ServerEntry;

describe("the error of a program that does not start", () => {
  const impatient = { startTimeoutMs: 700 };
  const entries: [string, () => ServerEntry][] = [
    ["not there", () => ({ command: "no-such-command-anywhere", args: [secret] })],
    ["not executable", () => ({ command: folder.write("no-program", "text") })],
    ["a missing folder", () => ({ ...byHand(""), cwd: "/no/such/folder" }) as ServerEntry],
    ["a variable that is not set", () => byHand("", { needs: ["A_TOKEN"] })],
    ["not found by its shell", () => ({ command: "sh", args: ["-c", "echo 'sh: x: not found' >&2; exit 127"] })],
    ["crash with last words", () => fixture("crash-on-start", folder.path, secret)],
    ["crash with a stack", () => byHand("stack")],
    ["crash with very many words", () => byHand("many-words")],
    ["crash without words", () => byHand("silent")],
    ["crash with words on stdout", () => byHand("words-on-stdout")],
    ["exit 0 on a missing key", () => byHand("missing-key")],
    ["crash at initialize", () => byHand("dies-when-asked")],
    ["killed", () => ({ command: "sh", args: ["-c", "kill -9 $$"] })],
    ["never answers", () => ({ ...fixture("never-starts", folder.path), ...impatient })],
    ["never answers, and says what it does", () => byHand("hangs", { startTimeoutMs: 3_000 })],
    ["an error to initialize", () => byHand("refuses")],
    ["an error to initialize with the code of a timeout", () => byHand("refuses-as-if-late")],
    ["an invalid answer to initialize", () => byHand("shapeless")],
    ["an unknown protocol version", () => byHand("of-the-future")],
    ["no MCP server: an echo", () => ({ command: "cat" })],
    ["no MCP server: text without end", () => ({ command: "yes", ...impatient })],
  ];
  test.each(entries)("says what happened: %s", async (name, entry) => {
    expect(await wordsOf(name, entry(), (pool) => pool.listTools(name))).toMatchSnapshot();
  });
});

describe("the error of a running program", () => {
  test.each(["cannot-list", "dies-between", "dies-at-once"])(
    "says why its tools cannot be listed: %s",
    async (what) => {
      expect(await wordsOf("by hand", byHand(what), (pool) => pool.listTools("by hand"))).toMatchSnapshot();
    },
  );

  test.each(["endless", "error", "refuses", "shapeless", "dies", "silent"])(
    "says why the tools of the lists server cannot be listed: %s",
    async (what) => {
      const options = what === "silent" ? { timeoutMs: 300 } : {};
      const entry = fixture("lists", what, folder.path);
      expect(await wordsOf("lists", entry, (pool) => pool.listTools("lists", options))).toMatchSnapshot();
    },
  );

  test.each(["listResources", "listPrompts"] as const)("says why %s fails for a declared capability", async (list) => {
    expect(await wordsOf("by hand", byHand("promises"), (pool) => pool[list]("by hand"))).toMatchSnapshot();
  });

  test("says that a server has no resources", async () => {
    const read = (pool: Pool) => pool.readResource("by hand", "file:///x");
    expect(await wordsOf("by hand", byHand(""), read)).toMatchSnapshot();
  });

  test("says that a resource and a prompt do not exist", async () => {
    const read = (pool: Pool) => pool.readResource("by hand", "file:///x");
    const get = (pool: Pool) => pool.getPrompt("by hand", "x", {});
    expect(await wordsOf("by hand", byHand("promises"), read)).toMatchSnapshot();
    expect(await wordsOf("by hand", byHand("promises"), get)).toMatchSnapshot();
  });

  test.each([
    "answers with an error",
    "answers with the code of a timeout",
    "has no such tool",
    "refuses the arguments",
    "answers null",
    "answers text",
    "answers nothing",
    "hangs",
    "dies",
    "dies without words",
  ])("says why a call failed: it %s", async (tool) => {
    const timeoutMs = tool === "hangs" ? 300 : 20_000;
    const call = (pool: Pool) => pool.callTool("by hand", tool, {}, { timeoutMs });
    expect(await wordsOf("by hand", byHand(""), call)).toMatchSnapshot();
  });

  test("says that a line was too long", async () => {
    const entry = fixture("noisy", folder.path);
    expect(await wordsOf("noisy", entry, (pool) => pool.callTool("noisy", "endless", {}))).toMatchSnapshot();
  });
});

describe("the error of a server on the network", () => {
  const secrets = { headers: { "X-Key": secret } };
  const addressOf = ({ port }: { port: number }, scheme = "http") =>
    `${scheme}://me:${secret}@127.0.0.1:${port}/${secret}?key=${secret}`;

  async function withServer(mode: string, use: (server: NetworkFixture) => Promise<void>): Promise<void> {
    await using server = await networkFixture(mode);
    await use(server);
  }

  test.each([
    ["missing", {}],
    ["busy", {}],
    ["busy-for-long", {}],
    ["trouble", {}],
    ["trouble-once", {}],
    ["elsewhere", {}],
    ["forbidden", {}],
    ["token", {}],
    ["page", {}],
    ["nonsense", {}],
    ["reset", {}],
    ["half-body", {}],
    ["length-too-small", {}],
    ["length-too-large", {}],
    ["gzip-garbage", {}],
    ["silent", { startTimeoutMs: 300 }],
    ["slow-body", { startTimeoutMs: 300 }],
    ["sse", { transport: "http" }],
    ["page", { transport: "sse" }],
    ["silent", { transport: "sse", startTimeoutMs: 300 }],
    ["reset", { transport: "sse" }],
    ["token", { transport: "websocket" }],
    ["page", { transport: "websocket" }],
    ["busy", { transport: "websocket" }],
    ["reset", { transport: "websocket" }],
  ] as const)("says why it failed to answer: %s %j", async (mode, more) => {
    await withServer(mode, async (server) => {
      const scheme = "transport" in more && more.transport === "websocket" ? "ws" : "http";
      const entry = { url: addressOf(server, scheme), ...secrets, ...more };
      expect(await wordsOf("far", entry, (pool) => pool.listTools("far"))).toMatchSnapshot();
    });
  });

  test.each([
    ["nothing listens", "http", {}],
    ["nothing listens", "ws", { transport: "websocket" }],
    ["no TLS", "https", {}],
  ] as const)("says why it cannot be reached: %s (%s)", async (what, scheme, more) => {
    await withServer("http", async (server) => {
      const port = what === "no TLS" ? server.port : freePort();
      const entry = { url: addressOf({ port }, scheme), ...secrets, ...more };
      expect(await wordsOf("far", entry, (pool) => pool.listTools("far"))).toMatchSnapshot();
    });
  });

  test.each([
    ["no host", { url: `http://me:${secret}@nowhere.invalid/${secret}` }],
    ["no address", { url: secret }],
    ["a header that none can be", { url: "http://127.0.0.1:1", headers: { "X-Key": `${secret}\n${secret}` } }],
    ["a variable that is not set", { url: "http://HOST", needs: ["HOST"] }],
  ])("says what is wrong in the config: %s", async (_, entry) => {
    expect(await wordsOf("far", entry, (pool) => pool.listTools("far"))).toMatchSnapshot();
  });

  test.each([
    ["http", "break"],
    ["http", "break-off"],
    ["http", "end-early"],
    ["http", "end-process"],
    ["sse", "break"],
    ["websocket", "break"],
    ["busy-at-calls", "echo"],
    ["picky", "echo"],
    ["answers-all-with-400", "echo"],
    ["http", "hang"],
  ])("says why a call failed: %s, %s", async (mode, tool) => {
    await withServer(mode, async (server) => {
      const way = mode === "websocket" || mode === "sse" ? { transport: mode } : {};
      const entry = { url: addressOf(server, mode === "websocket" ? "ws" : "http"), ...secrets, ...way } as ServerEntry;
      const args = mode === "answers-all-with-400" ? { refused: "in-words" } : { refused: "unread" };
      const timeoutMs = tool === "hang" ? 300 : 20_000;
      const call = async (pool: Pool) => {
        await pool.listTools("far");
        return pool.callTool("far", tool, args, { timeoutMs });
      };
      // Systems report a broken WebSocket differently.
      const words = await wordsOf("far", entry, call);
      expect(words.replace(/closed \(\d+\)/, "closed (N)")).toMatchSnapshot();
    });
  });
});

describe("unusual behaviour is accepted:", () => {
  const call = async (what: string, tool = "hello") => {
    await using pool = openPool({ odd: byHand(what) }, surroundings(folder.path));
    await pool.listTools("odd");
    return await pool.callTool("odd", tool, {});
  };
  const hello = { content: [{ type: "text", text: "hello" }] };

  test.each(["2024-11-05", "2025-06-18"])("a server that speaks the protocol of %s", async (revision) => {
    expect(await call(revision)).toEqual(hello);
  });

  test("a slow start with progress messages", async () => {
    expect(await call("slow")).toEqual(hello);
  });

  test("sixteen log notifications before the answer to initialize", async () => {
    expect(await call("logs")).toEqual(hello);
  });

  test("requests before initialize are answered", async () => {
    expect(await call("asks", "what it heard")).toEqual({ content: [{ type: "text", text: "ping, roots/list" }] });
  });

  test.each<[string, ToolResult]>([
    ["legacy result", { toolResult: { old: true } }],
    ["empty", { content: [] }],
    ["no content", {}],
    ["structured", { content: [], structuredContent: { unannounced: true } }],
    ["fails quietly", { content: [{ type: "text", text: "Error: no such order" }] }],
    ["fails without words", { content: [], isError: true }],
  ])("a result: %s", async (tool, result) => {
    expect(await call("", tool)).toEqual(result);
  });

  test("a gateway error before a call that succeeds", async () => {
    await using server = await networkFixture("trouble-once");
    await using pool = openPool({ odd: { url: `http://127.0.0.1:${server.port}/mcp` } }, surroundings(folder.path));
    expect((await failureOf(pool.listTools("odd"))).message).toContain("(502)");
    expect((await pool.listTools("odd")).map(({ name }) => name)).toContain("echo");
  });

  test("answers with unknown and repeated ids", async () => {
    await using pool = openPool({ odd: byHand("") }, surroundings(folder.path));
    const wrong = failureOf(pool.callTool("odd", "answers somebody else", {}, { timeoutMs: 1_000 }));
    const all = ["answers twice", "hello", "answers twice", "hello"].map((tool) => pool.callTool("odd", tool, {}));
    expect(await Promise.all(all)).toEqual(Array(4).fill(hello));
    expect((await wrong).code).toBe("CALL_TIMEOUT");
  });

  test("failing lists of resources and prompts beside working tools", async () => {
    await using pool = openPool({ odd: byHand("promises") }, surroundings(folder.path));
    await Promise.all([failureOf(pool.listResources("odd")), failureOf(pool.listPrompts("odd"))]);
    expect(await pool.callTool("odd", "hello", {})).toEqual(hello);
    expect(pool.state("odd").state).toBe("ready");
  });

  test("an error code with another meaning for us, without a second attempt", async () => {
    const file = join(folder.path, "calls");
    await using pool = openPool({ odd: byHand("", { env: { CALLS: file } } as never) }, surroundings(folder.path));
    for (const tool of ["answers with an error", "answers with the code of a timeout"]) {
      await failureOf(pool.callTool("odd", tool, {}, { repeatable: true }));
    }
    expect(pool.state("odd").state).toBe("ready");
    expect((await Bun.file(file).text()).trim().split("\n")).toHaveLength(2);
  });
});
