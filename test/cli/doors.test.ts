/** Doors by command: one agent gets fewer servers, and every command that concerns doors says which agent has which. */
import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { run as serve } from "../../src/cli/run.ts";
import { eventually } from "../support/eventually.ts";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";
import { cli, testIo } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });
const file = () => join(folder.path, ".config/claudikins/claudikins.json");
const run = (...argv: string[]) => cli(argv, { cwd: folder.path });
const json = async (...argv: string[]) => JSON.parse((await run(...argv, "--json")).stdout);
const config = () => JSON.parse(readFileSync(file(), "utf8"));

beforeEach(() => {
  folder.write(".config/claudikins/claudikins.json", {
    mcpServers: { github: fixture("lists", "none"), slack: fixture("lists", "none") },
  });
});

test("doors are made, shown, listed and removed by command, and the rest of the config stays", async () => {
  const before = config();
  expect((await run("doors")).stderr).toContain("claudikins doors add");
  expect(
    await run("doors", "add", "code", "github", "--deny", "github.delete_*", "--ask", "github.merge"),
  ).toMatchObject({
    exitCode: 0,
    stdout: `Made the door "code" in ${file()}\n`,
    stderr: expect.stringContaining("claudikins init --host codex --door code"),
  });
  const door = { servers: ["github"], tools: { deny: ["github.delete_*"], confirm: { "github.merge": "always" } } };
  expect(config()).toEqual({ ...before, doors: { code: door } });
  expect(await json("doors", "list")).toEqual({ doors: [{ door: "code", servers: ["github"], agents: [] }] });
  expect(await json("doors", "show", "code")).toMatchObject({ servers: ["github"], agents: [] });
  expect((await run("doors", "add", "code", "slack")).stderr).toContain("To replace it, add --replace");
  expect((await run("doors", "add", "code", "slack", "--replace")).exitCode).toBe(0);
  expect(config().doors).toEqual({ code: { servers: ["slack"] } });
  expect((await run("doors", "add", "other", "slak")).stderr).toContain("Did you mean slack?");
  expect((await run("doors", "add", "mcp")).stderr).toContain("this name is reserved");
  expect((await run("doors", "remove", "cod")).stderr).toContain("Did you mean code?");
  expect((await run("doors", "remove", "code")).exitCode).toBe(0);
  expect(config()).toEqual(before);
});

test("init --agent with --door gives an agent the door, whether it has claudikins already or not; restore undoes it", async () => {
  const entry = '[mcp_servers.mine]\ncommand = "mine"\n';
  folder.write(".codex/config.toml", entry);
  const codex = () => readFileSync(join(folder.path, ".codex/config.toml"), "utf8");
  expect((await run("init", "--agent", "codex", "--door", "code", "--apply", "--no-start")).stderr).toContain(
    "claudikins doors add",
  );
  expect((await run("init", "--door", "code", "--apply")).stderr).toContain("--door needs --host");
  expect(codex()).toBe(entry);
  await run("doors", "add", "code", "github");
  await run("doors", "add", "chat", "slack");
  for (const door of ["code", "chat"]) {
    expect((await run("init", "--agent", "codex", "--door", door, "--apply", "--no-start")).exitCode).toBe(0);
    expect(codex()).toMatch(new RegExp(`"serve", *"--door", *"${door}"\\s*\\]`));
    expect(codex().match(/--door/g)).toHaveLength(1);
    expect(codex()).toContain('default_tools_approval_mode = "approve"');
  }
  folder.write(".cursor/mcp.json", {
    mcpServers: { claudikins: { command: "claudikins", args: ["serve"], env: { A: "1" } } },
  });
  await run("init", "--agent", "cursor", "--door", "code", "--apply", "--no-start");
  expect(JSON.parse(readFileSync(join(folder.path, ".cursor/mcp.json"), "utf8"))).toEqual({
    mcpServers: { claudikins: { command: "claudikins", args: ["serve", "--door", "code"], env: { A: "1" } } },
  });
  expect((await json("doors")).doors).toEqual([
    { door: "code", servers: ["github"], agents: ["Cursor"] },
    { door: "chat", servers: ["slack"], agents: ["Codex"] },
  ]);
  expect((await run("doors", "remove", "chat")).stderr).toContain("Codex still starts claudikins behind it");
  await run("restore");
  expect(codex()).toBe(entry);
});

test("doctor says which agent uses which door, and which agent names a door that does not exist", async () => {
  await run("doors", "add", "code", "github");
  const entry = (door: string) => ({
    mcpServers: { claudikins: { command: "claudikins", args: ["serve", "--door", door] } },
  });
  folder.write(".cursor/mcp.json", entry("code"));
  folder.write(".gemini/settings.json", entry("gone"));
  const { findings } = await json("doctor", "--no-servers");
  const of = (id: string) => findings.find((each: { id: string }) => each.id === id);
  expect(of("config.doors.code")).toMatchObject({ state: "ok", message: 'Behind the door "code", for Cursor: github' });
  expect(of("config.doors.gone")).toMatchObject({
    state: "problem",
    message: 'Gemini CLI starts claudikins behind the door "gone", which the config does not have',
    repair: "claudikins doors add gone",
  });
});

test("serve --http prints the address of each door, with --json too", async () => {
  await run("doors", "add", "code", "github");
  for (const isJson of [true, false]) {
    const ended = new AbortController();
    const written = { stdout: "", stderr: "" };
    const argv = ["serve", "--http", "0", "--without-token", ...(isJson ? ["--json"] : [])];
    const io = testIo({ cwd: folder.path, interrupted: ended.signal }, written);
    const serving = serve(argv, io);
    await eventually(() => written.stdout.endsWith("\n") && (isJson || written.stderr.includes("token")));
    ended.abort();
    await serving;
    const url = isJson ? JSON.parse(written.stdout).url : written.stdout.trim();
    const door = url.replace(/\/mcp$/, "/code");
    if (isJson) expect(JSON.parse(written.stdout).doors).toEqual({ code: door });
    else expect(written.stderr).toContain(`The door "code": ${door}\n`);
  }
});
