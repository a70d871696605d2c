/** One server with several accounts: added under another name, and told apart in lists, searches, sign-ins and what agents are shown. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { App } from "../../src/app/app.ts";
import { silentLog } from "../../src/base/log.ts";
import { accountNote, twinsOf } from "../../src/config/accounts.ts";
import { loadConfig } from "../../src/config/load.ts";
import { Sandbox } from "../../src/sandbox/sandbox.ts";
import { instructionsFor } from "../../src/serve/surface/instructions.ts";
import { oauthFixture } from "../support/oauth.ts";
import { ownFolder } from "../support/own-folder.ts";
import { shellLine } from "../support/process.ts";
import { everything, fixture } from "../support/servers.ts";
import { browserCommand } from "../support/sign-in.ts";
import { type CliOptions, cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();

const run = (argv: string[], options: CliOptions = {}) =>
  cli(argv, { cwd: folder.path, ...options, env: { CI: "true", ...options.env } });
const json = async (argv: string[]) => JSON.parse((await run([...argv, "--json"])).stdout);
const users = () =>
  JSON.parse(readFileSync(join(folder.path, ".config/claudikins/claudikins.json"), "utf8")).mcpServers;

describe("add with a server that the config has already", () => {
  /** An npx that starts the everything server, whatever package it is asked for. */
  function withNpx(): Record<string, string> {
    const { command, args } = everything();
    chmodSync(folder.write("bin/npx", `#!/bin/sh\nexec ${shellLine([command, ...args])}\n`), 0o755);
    return {
      PATH: `${join(folder.path, "bin")}:${process.env["PATH"]}`,
      SLACK_TEAM_ID: "T1",
      SLACK_BOT_TOKEN: "xoxb-1",
    };
  }

  test("names --as, and adds it under the other name with its own variables and account", async () => {
    const env = withNpx();
    expect((await run(["add", "slack"], { env })).exitCode).toBe(0);
    const again = await run(["add", "slack"], { env });
    expect(again.exitCode).toBe(2);
    expect(again.stderr).toContain("To keep both, give the new server another name with --as slack-2.");
    const account = ["--account", "ada@client.example", "--env", "SLACK_BOT_TOKEN=xoxb-2"];
    const { exitCode, stderr } = await run(["add", "slack", "--as", "slack-client", ...account], { env });
    expect([exitCode, stderr]).not.toContain("same variables");
    expect(users()).toEqual({
      slack: expect.objectContaining({ env: expect.objectContaining({ SLACK_BOT_TOKEN: "${SLACK_BOT_TOKEN}" }) }),
      "slack-client": expect.objectContaining({
        account: "ada@client.example",
        env: expect.objectContaining({ SLACK_BOT_TOKEN: "xoxb-2" }),
      }),
    });
  });

  test("says that both act for the same account if their variables are the same", async () => {
    const env = withNpx();
    await run(["add", "slack"], { env });
    const { exitCode, stderr } = await run(["add", "slack", "--as", "slack-client"], { env });
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringContaining(
        "slack-client has the same variables as slack, so it acts for the same account: give it others with --env",
      ),
    ]);
  });

  test("refuses --as where the name is given anyway, and says how to name the server", async () => {
    const { exitCode, stderr } = await run(["add", "docs", "https://mcp.example.com/mcp", "--as", "other"]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('Write "other" instead of "docs": the first word')]);
  });
});

describe("two entries of one server", () => {
  const tools = ["read_channel", "post_message"].map((name) => ({
    name,
    description: `${name.replace("_", " ")}s of a workspace`,
    inputSchema: { type: "object", properties: { channel: { type: "string" } }, required: ["channel"] },
  }));
  const entry = () => fixture("from-file", folder.write("tools.json", JSON.stringify(tools)));
  const config = (one: object = {}, two: object = {}) =>
    folder.write("claudikins.json", {
      mcpServers: { chat: { ...entry(), ...one }, "chat-client": { ...entry(), env: { A: "b" }, ...two } },
    });
  const accounts = () => config({ account: "ada@home.example" }, { account: "ada@client.example" });

  async function instructions(): Promise<string> {
    const env = { HOME: folder.path, CI: "true", PATH: process.env["PATH"] ?? "" };
    const loaded = await loadConfig({ cwd: folder.path, env });
    const options = { env, cwd: folder.path, log: silentLog };
    await using app = new App(loaded, new Sandbox({ keptWorkers: 0 }), options);
    await app.catalog.listMissing(new AbortController().signal);
    return instructionsFor(app);
  }

  test("are shown to an agent with their accounts, and with the signatures of their tools once", async () => {
    accounts();
    const text = await instructions();
    expect(text).toContain("- chat (2; account ada@home.example)");
    expect(text).toContain("- chat-client (2; account ada@client.example): chat_client has the same tools as chat");
    expect(text.match(/post_message\(/g)).toHaveLength(1);
  });

  test("without accounts in the config are shown to be the same server", async () => {
    config();
    expect(await instructions()).toContain("- chat-client (2): chat_client has the same tools as chat");
  });

  test("are one result of a search, which names both with their accounts", async () => {
    accounts();
    await run(["gen"]);
    const { tools: found } = await json(["search", "post a message"]);
    expect(found[0]).toMatchObject({
      id: "chat.post_message",
      also: ["chat-client.post_message"],
      accounts: { chat: "ada@home.example", "chat-client": "ada@client.example" },
    });
    const { stdout } = await run(["search", "post a message"]);
    expect(stdout).toContain("account ada@home.example; also: chat-client.post_message (account ada@client.example)");
  });

  test("are listed with their accounts", async () => {
    accounts();
    const { servers } = await json(["list"]);
    expect(servers.map(({ server, account }: Record<string, string>) => [server, account])).toEqual([
      ["chat", "ada@home.example"],
      ["chat-client", "ada@client.example"],
    ]);
    expect((await run(["list"])).stdout).toMatch(/\nchat-client .* account ada@client\.example\n/);
  });

  test("share what was observed of their results", async () => {
    config();
    await run(["gen"]);
    expect((await run(["exec", "-e", "return chat.read_channel({ channel: 'x' })"])).exitCode).toBe(0);
    const { tools: found } = await json(["search", "server:chat-client read channel"]);
    expect(found[0].signature).toMatch(/^"?.*chat_client.*read_channel\(.*\): Promise<(?!unknown).+>/);
  });

  test("are recognised by what they start or reach, whatever their credentials are", () => {
    const base = { args: [], env: {}, headers: {} };
    const servers = Object.entries({
      a: { ...base, command: "x", args: ["y"] },
      b: { ...base, command: "x", args: ["y"], env: { TOKEN: "1" } },
      c: { ...base, command: "x", args: ["z"] },
      d: { ...base, url: "https://h.example/mcp?key=1", headers: { A: "1" } },
      e: { ...base, url: "https://me:pass@h.example/mcp" },
      f: { ...base, url: "https://h.example/other" },
    }).map(([name, each]) => [name, { name, ...each }] as never);
    const all = new Map<string, never>(servers);
    expect([...all.keys()].map((name) => twinsOf(name, all))).toEqual([["b"], ["a"], [], ["e"], ["d"], []]);
    // A question about a call says so if the config names no account.
    expect(accountNote("b", all)).toBe("b and a are the same server, set up separately");
    expect(accountNote("c", all)).toBeUndefined();
  });
});

test("the same address under two names has two sign-ins, and the second login warns of the first account", async () => {
  await using server = await oauthFixture();
  folder.write("claudikins.json", {
    mcpServers: { work: { url: server.url, account: "ada@work.example" }, home: { url: server.url } },
  });
  const env = { BROWSER: browserCommand(join(folder.path, "page.html")) };
  const first = await run(["auth", "login", "work"], { env });
  expect([first.exitCode, first.stderr]).toEqual([0, expect.not.stringContaining("you are signed in to")]);
  const states = async () => (await json(["auth", "status"])).servers.map((each: { state: string }) => each.state);
  expect(await states()).toEqual(["signed in", "signed out"]);
  const second = await run(["auth", "login", "home"], { env });
  expect([second.exitCode, second.stderr]).toEqual([
    0,
    expect.stringContaining("note: you are signed in to work at the same address."),
  ]);
  expect(await states()).toEqual(["signed in", "signed in"]);
  expect((await run(["auth", "status"])).stdout).toContain("work (ada@work.example)");
  // Signing out of one leaves the other.
  expect((await run(["auth", "logout", "work"])).exitCode).toBe(0);
  expect(await states()).toEqual(["signed out", "signed in"]);
});
