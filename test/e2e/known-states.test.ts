/** A server that cannot be called is marked where its tools are found, with the command that repairs it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { executable } from "../support/claudikins.ts";
import { type OAuthFixture, oauthFixture } from "../support/oauth.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { browserCommand } from "../support/sign-in.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

const refused = "its last 2 calls were refused as unauthorized. Check the token in its config entry: claudikins doctor";
const broken =
  "did not start: its process exited with code 3 without output; retried on the next call. Run its command from the config by hand to see more. To check it: claudikins doctor";
const signedOut = "signed out: it needs a sign-in (401). claudikins auth login desk";

let folder: TemporaryFolder;
let oauth: OAuthFixture;
let down: string;
let message: string;
let env: Record<string, string>;

/** Three servers, which are listed while they work, and then stop working. */
beforeAll(async () => {
  folder = temporaryFolder();
  oauth = await oauthFixture({ door: "open" });
  message = folder.write("message.txt", "Request failed with status 401: Unauthorized");
  down = join(folder.path, "down");
  const tools = folder.write("tools.json", [
    { name: "weigh", description: "Weighs.", inputSchema: { type: "object" } },
  ]);
  const { command, args } = fixture("from-file", tools);
  const start = folder.write("start.sh", '[ -f "$1" ] && exit 3\nshift\nexec "$@"\n');
  folder.write("claudikins.json", {
    mcpServers: {
      tracker: fixture("refusing", message),
      shop: { command: "sh", args: [start, down, command, ...args] },
      desk: { url: oauth.url },
    },
  });
  const home = join(folder.path, "home");
  env = testEnvironment({
    HOME: home,
    XDG_DATA_HOME: join(home, "data"),
    XDG_RUNTIME_DIR: folder.path,
    CLAUDIKINS_DAEMON: "on",
    BROWSER: browserCommand(join(folder.path, "page.html")),
  });
  expect(await run("gen")).toMatchObject({ exitCode: 0 });
  await oauth.change({ door: "guarded" });
  folder.write("down", "");
});
afterAll(async () => {
  await run("daemon", "stop", "--all", "--now");
  await oauth[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const run = (...words: string[]) => runProgram([executable(), ...words], { cwd: folder.path, env });

const findAll = { queries: ["find issues", "weigh", "echo"], limit: 1 };

test("in a session", async () => {
  const client = new Client({ name: "test", version: "1" });
  await using _ = { [Symbol.asyncDispose]: () => client.close() };
  const serve = { command: executable(), args: ["serve"], cwd: folder.path, stderr: "ignore" as const };
  await client.connect(new StdioClientTransport({ ...serve, env: { ...env, CLAUDIKINS_DAEMON: "off" } }));
  const ask = async (name: string, args: object): Promise<string> => {
    const { content } = await client.callTool({ name, arguments: { ...args } });
    return (content as { text: string }[]).map(({ text }) => text).join("\n");
  };
  expect(await ask("search_tools", findAll)).not.toContain("Down: ");
  const calls = "[tracker.find(), shop.weigh(), desk.echo()]";
  const called = await ask("execute_code", { code: `await Promise.allSettled(${calls}); await tracker.find();` });
  const down = [
    "Down: tracker, desk. Retrying will not help. Tell the user:",
    "- tracker refused its last 2 calls as unauthorized. Check the token in its config entry: claudikins doctor",
    "- desk is signed out: it needs a sign-in (401). claudikins auth login desk",
    "Down: shop did not start: its process exited with code 3 without output. A call tries again. If it fails, tell the user: Run its command from the config by hand to see more.",
  ];
  expect(called).toEndWith(down.join("\n"));
  const found = await ask("search_tools", findAll);
  expect(found.split("\n").filter((line) => line.endsWith(" // down"))).toHaveLength(3);
  const named = await ask("search_tools", { ...findAll, server: "tracker, shop, desk" });
  expect(named).toStartWith(down.join("\n"));
  const code = `
const found = await Promise.all(${JSON.stringify(findAll.queries)}.map((query) => tools.search(query, 1)));
return found.flat().map(({ id, problem }) => [id, problem]);`;
  const inCode = await ask("execute_code", { code });
  expect(JSON.parse(inCode.slice(0, inCode.lastIndexOf("\n\n[")))).toEqual([
    ["tracker.find", refused],
    ["shop.weigh", broken],
    ["desk.echo", signedOut],
  ]);
});

describe("in a shell, after earlier commands have met the problem", () => {
  // The two calls of the session count too.
  const refusedAgain = refused.replace("last 2 calls", "last 4 calls");
  beforeAll(async () => {
    for (const tool of ["tracker.find", "tracker.find", "shop.weigh", "desk.echo"]) await run("call", tool);
  });

  const problemOf = async (query: string): Promise<unknown> => {
    const { stdout } = await run("search", query, "--limit", "1", "--json");
    return JSON.parse(stdout).notCallable;
  };

  test("by claudikins search, as text and as JSON", async () => {
    expect(await run("search", "find issues", "--limit", "1")).toEqual({
      exitCode: 0,
      stdout: expect.stringContaining("tracker.find"),
      stderr: `Not available now: tracker (${refusedAgain})\n`,
    });
    expect(await problemOf("find issues")).toEqual({ tracker: refusedAgain });
    expect(await problemOf("weigh")).toEqual({ shop: broken });
    expect(await problemOf("echo")).toEqual({ desk: signedOut });
    const lines = await runProgram([executable(), "search", "--limit", "1", "--json", "-"], {
      ...{ cwd: folder.path, env },
      stdin: "weigh\nfind issues",
    });
    expect(
      lines.stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).notCallable),
    ).toEqual([{ shop: broken }, { tracker: refusedAgain }]);
  });

  test("and no longer once it is repaired", async () => {
    rmSync(message);
    rmSync(down);
    await run("call", "tracker.find");
    await run("call", "shop.weigh");
    expect(await run("auth", "login", "desk")).toMatchObject({ exitCode: 0 });
    expect(await Promise.all(["find issues", "weigh", "echo"].map(problemOf))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
