/** The pool with real processes: starts, results, errors, and no process left. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { getEventListeners } from "node:events";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { wholeOf } from "../../src/base/large-json.ts";
import type { Pool } from "../../src/servers/pool.ts";
import { eventually } from "../support/eventually.ts";
import { ownPool } from "../support/own-pool.ts";
import { failureOf, failureText, plainValue, type ServerEntry, surroundings } from "../support/pool.ts";
import { processesLeft, processesWith, shellLine } from "../support/process.ts";
import { fixture } from "../support/servers.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

const own = ownPool();

/** Opens the pool of a test. */
function open(entries: Record<string, ServerEntry>, env: Record<string, string> = {}): Pool {
  return own.open(entries, { env: { ...surroundings(own.mark).env, ...env } });
}

const odd = () => fixture("odd", own.mark);
const lists = (mode: string) => fixture("lists", mode, own.mark);

const call = async (tool: string, args: object = {}, options = {}) =>
  plainValue(await own.pool.callTool("odd", tool, args, options));

const failure = async (of: Promise<unknown>) => failureText(await failureOf(of), own.mark);

describe("a start", () => {
  test("happens at the first call, and ten concurrent calls share one process", async () => {
    open({ odd: odd(), other: fixture("never-starts", own.mark) });
    expect(processesWith(own.mark)).toEqual([]);
    const values = await Promise.all(Array.from({ length: 10 }, () => call("get-thing")));
    expect(values).toEqual(Array(10).fill("dash"));
    expect(processesWith(own.mark)).toHaveLength(1);
    await call("get_thing");
    expect(processesWith(own.mark)).toHaveLength(1);
  });

  test("gives the server the safe variables, those of its entry, and its working directory", async () => {
    const entry = { ...odd(), env: { DECLARED: "yes", LANG: "xx" } };
    open({ odd: entry }, { SECRET_TOKEN: "s", USER: "me", LANG: "C", NODE_OPTIONS: "--x" });
    // The shell and Bun add no variables, and we add one to find the process.
    expect(await call("environment")).toEqual({
      PATH: process.env["PATH"] ?? "",
      HOME: own.mark,
      USER: "me",
      LANG: "xx",
      DECLARED: "yes",
      CLAUDIKINS_START: expect.stringMatching(/^[\d.]+$/),
    });
  });

  test("resolves a relative command against the server's cwd, or the caller's", async () => {
    const script = own.folder.write("bin/serve.sh", `#!/bin/sh\nexec ${shellLine([odd().command])} "$@"\n`);
    chmodSync(script, 0o755);
    open({
      here: { ...odd(), command: "./bin/serve.sh" },
      there: { ...odd(), command: "./serve.sh", cwd: join(own.folder.path, "bin") },
    });
    expect((await own.pool.listTools("here")).length).toBe(14);
    expect((await own.pool.listTools("there")).length).toBe(14);
  });
});

describe("listTools", () => {
  test("returns every page in the server's order, and ignores other output on stdout", async () => {
    open({ odd: odd() });
    const tools = await own.pool.listTools("odd");
    expect(tools.map(({ name }) => name)).toEqual([
      "get-thing",
      "get_thing",
      "two.dots",
      "two dots",
      "constructor",
      "structured",
      "legacy",
      "empty",
      "image",
      "failing",
      "environment",
      "rpc-error",
      "end-process",
      "hang",
    ]);
    expect(tools[2]).toEqual({
      name: "two.dots",
      description: "Tool two.dots */ `${x}` $& ends",
      inputSchema: { type: "object", properties: { size: { type: "number" } } },
    });
  });

  test("returns an empty list for a server without tools", async () => {
    open({ lists: lists("none") });
    expect(await own.pool.listTools("lists")).toEqual([]);
  });

  test.each<[string, string[], string[]]>([
    ["repeating", ["same"], ["repeating: tools/list repeats a cursor: only 1 entry was read"]],
    ["circling", ["tool_0", "tool_1", "tool_2"], ["circling: tools/list repeats a cursor: only 3 entries were read"]],
    ["empty-cursor", ["tool_0", "tool_1", "tool_2"], []],
    ["empty-at-the-end", ["tool_0"], []],
    ["empty-refused", ["tool_0"], []],
    ["numbered", ["tool_0"], ["numbered: tools/list has an invalid cursor: only 1 entry was read"]],
    ["nameless", ["tool_0"], ["nameless: 2 entries of tools/list without a name are left out"]],
  ])("reads the pages of a server whose list is %s", async (mode, names, problems) => {
    open({ [mode]: lists(mode) });
    const notes: string[] = [];
    const tools = await own.pool.listTools(mode, {}, { note: (problem) => notes.push(problem) });
    expect([tools.map(({ name }) => name), notes]).toEqual([names, problems]);
  });

  test("names the server in its errors", async () => {
    const modes = ["endless", "error", "refuses", "shapeless", "dies", "silent"];
    open(Object.fromEntries(modes.map((mode) => [mode, lists(mode)])));
    const texts = modes.map((mode) =>
      failure(own.pool.listTools(mode, mode === "silent" ? { timeoutMs: 50 } : {})).then((text) => `${mode} → ${text}`),
    );
    expect((await Promise.all(texts)).join("\n\n")).toMatchInlineSnapshot(`
      "endless → PROTOCOL_ERROR: Server "endless" returned endless pages for tools/list
      hint: Report this to the server's author, or try another version of it.

      error → PROTOCOL_ERROR: tools/list of error: the server returned an error: no database
      hint: Check the server's logs or its documentation.

      refuses → PROTOCOL_ERROR: tools/list of refuses: the server returned an error: no such cursor
      hint: Check the server's logs or its documentation.

      shapeless → PROTOCOL_ERROR: Server "shapeless" answered tools/list without a tool list
      hint: Report this to the server's author, or try another version of it.

      dies → SERVER_UNAVAILABLE: tools/list of dies: server "dies" is gone: its process exited with code 7
        | cannot list: out of paper
      hint: Call again to restart it.

      silent → CALL_TIMEOUT: tools/list of silent did not answer within 50 ms
      hint: Raise "callTimeoutMs" of "silent" in the config, or ask for less in one call."
    `);
  });
});

describe("callTool", () => {
  test("returns every shape of result", async () => {
    open({ odd: odd() });
    const tools = ["two.dots", "two dots", "constructor", "structured", "legacy", "empty", "image"];
    expect(await Promise.all(tools.map((tool) => call(tool)))).toEqual([
      { dotted: true },
      "spaced",
      "constructed",
      { answer: 42 },
      { old: true },
      [],
      [{ type: "image", data: "AAAA", mimeType: "image/png" }],
    ]);
    expect(await own.pool.callTool("odd", "failing", {})).toEqual({
      content: [{ type: "text", text: "the tool says no" }],
      isError: true,
    });
  });

  test("returns 30 MB from one line", async () => {
    open({ odd: odd() });
    const size = 30 * 1_048_576;
    const { content } = await own.pool.callTool("odd", "structured", { size });
    const [block] = wholeOf(content) as { text: string }[];
    expect(block?.text.length).toBe(size);
    expect(block?.text.replaceAll("x", "")).toBe("");
  });

  test("fails with the tool's error, for unknown tools, and for errors of the protocol", async () => {
    open({ odd: odd() });
    const failures = [
      failure(call("failing")),
      failure(call("rpc-error")),
      failure(call("nope")),
      failure(call("hang", {}, { timeoutMs: 50 })),
      failure(own.pool.callTool("Odd!", "x", {})),
      failure(own.pool.callTool("__proto__", "x", {})),
    ];
    expect((await Promise.all(failures)).join("\n\n")).toMatchInlineSnapshot(`
      "TOOL_FAILED: the tool says no

      TOOL_FAILED: odd.rpc-error: broken inside

      INVALID_ARGUMENTS: odd.nope: no tool nope

      CALL_TIMEOUT: odd.hang did not answer within 50 ms
      hint: Raise "callTimeoutMs" of "odd" in the config, or ask for less in one call.

      SERVER_NOT_FOUND: No server is called "Odd!"
      hint: Did you mean odd? The config has: odd.

      SERVER_NOT_FOUND: No server is called "__proto__"
      hint: The config has: odd."
    `);
    expect(processesWith(own.mark)).toHaveLength(1);
  });

  test("fails with all concurrent calls if the server crashes, and the next call starts it again", async () => {
    open({ odd: odd() });
    await call("get-thing");
    const [first] = processesWith(own.mark);
    const beside = failure(call("hang"));
    expect(await failure(call("end-process"))).toMatchInlineSnapshot(`
      "SERVER_UNAVAILABLE: odd.end-process: server "odd" is gone: its process was ended by SIGKILL
        | dying now
      hint: Call again to restart it."
    `);
    expect(await beside).toStartWith('SERVER_UNAVAILABLE: odd.hang: server "odd" is gone');
    expect(await call("get-thing")).toBe("dash");
    const [second, ...more] = processesWith(own.mark);
    expect(second).not.toBe(first);
    expect(more).toEqual([]);
  });

  test("uses the time limit of the entry by default", async () => {
    open({ odd: { ...odd(), callTimeoutMs: 50 } });
    expect(await failure(call("hang"))).toStartWith("CALL_TIMEOUT: odd.hang did not answer within 50 ms");
  });

  test("ends if it is cancelled, and the server continues", async () => {
    open({ odd: odd() });
    await call("get-thing");
    const controller = new AbortController();
    const hanging = failure(call("hang", {}, { signal: controller.signal }));
    controller.abort();
    expect(await hanging).toBe("CANCELLED: odd.hang was cancelled");
    expect(await failure(call("get-thing", {}, { signal: controller.signal }))).toBe(
      "CANCELLED: odd.get-thing was cancelled",
    );
    expect(await call("get-thing")).toBe("dash");
    expect(processesWith(own.mark)).toHaveLength(1);
  });

  test("leaves no listeners on a signal that many calls share", async () => {
    open({ odd: fixture("odd", own.mark) });
    const { signal } = new AbortController();
    for (let count = 0; count < 20; count++) await call("get-thing", {}, { signal });
    await failure(call("hang", {}, { signal, timeoutMs: 50 }));
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("does not end a start for other callers if one is cancelled", async () => {
    open({ odd: odd() });
    const controller = new AbortController();
    const impatient = failure(call("get-thing", {}, { signal: controller.signal }));
    const patient = call("get-thing");
    controller.abort();
    expect(await impatient).toBe("CANCELLED: odd.get-thing was cancelled");
    expect(await patient).toBe("dash");
  });
});

describe("a server that does not start", () => {
  test("is an error with the server, the reason, its last output and the next step", async () => {
    own.folder.write("no-program", "text");
    open({
      crashes: fixture("crash-on-start", own.mark),
      silent: { ...fixture("never-starts", own.mark), startTimeoutMs: 100 },
      "not there": { command: "no-such-command-anywhere", args: ["a b"] },
      "not executable": { command: "./no-program" },
      "no folder": { ...odd(), cwd: "/no/such/folder" },
      "ends well": { command: "true" },
      variable: { ...odd(), needs: ["A_TOKEN", "B_TOKEN"] },
    });
    const texts = [...own.pool.servers.keys()].map((name) => failure(own.pool.callTool(name, "x", {})));
    expect((await Promise.all(texts)).join("\n\n")).toMatchInlineSnapshot(`
      "SERVER_UNAVAILABLE: Server "crashes" did not start: its process exited with code 3
        | warming up
        | fatal: no database at db://nowhere
      hint: Run its command from the config by hand to see more.

      SERVER_UNAVAILABLE: Server "silent" did not start: it did not answer within 100 ms
      hint: Raise "startTimeoutMs" of "silent" in the config, or run its command by hand.

      SERVER_UNAVAILABLE: Server "not there" did not start: command not found: no-such-command-anywhere
      hint: Install no-such-command-anywhere. If it is installed but not on the PATH of claudikins, set "command" to the output of "which no-such-command-anywhere".

      SERVER_UNAVAILABLE: Server "not executable" did not start: permission denied: ./no-program
      hint: Make it executable, for example with chmod +x.

      SERVER_UNAVAILABLE: Server "no folder" did not start: its working directory /no/such/folder does not exist
      hint: Create the folder, or correct "cwd" in the config.

      SERVER_UNAVAILABLE: Server "ends well" did not start: its process exited with code 0 without output
      hint: Run its command from the config by hand to see more.

      NEEDS_VARIABLE: Server "variable" needs A_TOKEN, B_TOKEN in the environment
      hint: Set A_TOKEN, B_TOKEN before starting claudikins, or add a default to the config: \${A_TOKEN:-value}."
    `);
  });

  test("is started again by the next call", async () => {
    const file = join(own.folder.path, "tools.json");
    open({ file: fixture("from-file", file), late: { ...odd(), command: "./late.sh" } });
    expect(await failure(own.pool.listTools("late"))).toContain("command not found: ./late.sh");
    const script = own.folder.write("late.sh", `#!/bin/sh\nexec ${shellLine([odd().command])} "$@"\n`);
    chmodSync(script, 0o755);
    expect((await own.pool.listTools("late")).length).toBe(14);
    expect(await failure(own.pool.listTools("file"))).toContain("there is no such file");
    own.folder.write("tools.json", "[]");
    expect(await own.pool.listTools("file")).toEqual([]);
  });
});

describe("close", () => {
  test("leaves no process if servers are starting, and fails their callers", async () => {
    open({ never: fixture("never-starts", own.mark), odd: odd() });
    const waiting = [failure(own.pool.callTool("never", "x", {})), failure(own.pool.callTool("odd", "x", {}))];
    // The processes exist before they answer.
    await eventually(() => processesWith(own.mark).length >= 2, { everyMs: 1 });
    await own.pool.close();
    expect(await processesLeft(own.mark)).toEqual([]);
    expect(await Promise.all(waiting)).toEqual([
      'CANCELLED: Server "never" did not start: claudikins is closing',
      'CANCELLED: Server "odd" did not start: claudikins is closing',
    ]);
  });

  test("leaves no process right after the first call", async () => {
    open({ odd: odd() });
    const waiting = failure(call("get-thing"));
    await own.pool.close();
    expect(await waiting).toStartWith("CANCELLED: ");
    expect(await processesLeft(own.mark, 0)).toEqual([]);
  });

  test("ends servers that refuse to end, with their children and running calls", async () => {
    open({ stubborn: fixture("stubborn", own.mark), odd: odd() });
    await Promise.all([own.pool.callTool("stubborn", "hello", {}), call("get-thing")]);
    const hanging = failure(call("hang"));
    expect(processesWith(own.mark).length).toBe(3);
    await own.pool.close();
    expect(await processesLeft(own.mark)).toEqual([]);
    expect(await hanging).toBe("CANCELLED: odd.hang was cancelled: claudikins is closing");
  });

  test("is final and can be repeated", async () => {
    open({ odd: odd() });
    await own.pool.close();
    await own.pool.close();
    expect(await failure(call("get-thing"))).toBe("CANCELLED: claudikins is closing");
  });
});
