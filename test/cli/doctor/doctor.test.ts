/** doctor as a whole: its output, its exit code, and that it changes nothing. */
import { expect, test } from "bun:test";
import { lstatSync, mkdirSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { exitCodeOf, findingsOf } from "../../../src/cli/doctor/finding.ts";
import { root } from "../../support/claudikins.ts";
import { oauthFixture } from "../../support/oauth.ts";
import { fixture } from "../../support/servers.ts";
import { withName } from "../../support/shown-paths.ts";
import { page } from "../in-memory.ts";
import { patient } from "./patient.ts";

const home = patient();
const { at, run, configure } = home;

test("the exit code is that of the most serious problem", () => {
  const { problem, ok } = findingsOf("servers");
  const code = (...codes: Parameters<typeof problem>[2][]) =>
    exitCodeOf([ok("a", "a"), ...codes.map((each) => problem("b", "b", each, undefined))]);
  expect(code()).toBe(0);
  expect(code("REGISTRY_STALE")).toBe(1);
  expect(code("REGISTRY_STALE", "AUTH_REQUIRED")).toBe(3);
  expect(code("AUTH_REQUIRED", "SERVER_UNAVAILABLE")).toBe(4);
  expect(code("SERVER_UNAVAILABLE", "CONFIG_INVALID", "AUTH_REQUIRED")).toBe(2);
});

test("doctor prints findings grouped by area, with their fixes", async () => {
  configure({ crashes: fixture("crash-on-start", home.folder.path) });
  const argv = ["doctor"];
  const options = { env: { PATH: at("empty") } };
  const text = page(argv, await run(argv, options), home.folder.path);
  expect(
    withName(text, root, "SOURCE").replace(/claudikins \d\S+, from source \(.*?\)/, "claudikins VERSION"),
  ).toMatchInlineSnapshot(`
    "$ claudikins doctor
    --- stdout
    executable
      ok       claudikins VERSION: SOURCE/src/main.ts
      warning  claudikins is not on the PATH: agents' project files, skills, generated files and shells cannot find it
               fix: sh SOURCE/install.sh

    config
      ok       The project's config, with 1 server: FOLDER/claudikins.json

    servers
      problem  Server "crashes" did not start: its process exited with code 3
                 | warming up
                 | fatal: no database at db://nowhere
               fix: Run its command from the config by hand to see more.
      warning  Server "crashes" has access to FOLDER and could change files that you and your agents rely on
                 the config: FOLDER/claudikins.json
               fix: Give it a folder without these files, or deny its tools that write: "deny" in mcpServers.crashes

    folders
      ok       The registry is created when it is needed: FOLDER/.claudikins/registry
      ok       The workspace is created when it is needed: FOLDER/.claudikins/workspace
      ok       The data folder is created when it is needed: FOLDER/.local/share/claudikins

    agents
      ok       No agent was found on this machine. Any program that speaks MCP can start: claudikins serve

    skills
      ok       No agent has the skill. To install it: claudikins skill install

    daemon
      ok       No daemon has run yet; generated files start one on demand
    --- stderr

    1 problem and 2 warnings.
    --- exit code 4
    "
  `);
});

/** Bun's compiled sources of the servers, and the files that SQLite has beside a database while somebody reads it. */
const notOurs = /^\.bun$|\.sqlite-(?:shm|wal)$/;

/** Every path with everything that would show a change. */
function listing(path: string): string[] {
  const { mode, size, mtimeMs, ino } = lstatSync(path);
  const all = lstatSync(path).isDirectory() ? readdirSync(path).sort() : [];
  const below = all.filter((name) => !notOurs.test(name));
  const isOthers = all.includes(".bun") || all.some((name) => name.endsWith(".sqlite"));
  const stamp = isOthers ? path : `${path} ${mode} ${size} ${mtimeMs} ${ino}`;
  return [stamp, ...below.flatMap((name) => listing(join(path, name)))];
}

test("doctor changes no file, in an empty home or a full one", async () => {
  await using oauth = await oauthFixture();
  mkdirSync(at("home/.bun"), { recursive: true });
  const project = () => run(["doctor"], { cwd: at("project"), env: { HOME: at("home") } });
  configure({});
  home.folder.write("project/claudikins.json", {
    mcpServers: {
      odd: fixture("odd", home.folder.path),
      lists: fixture("lists", home.folder.path),
      crashes: fixture("crash-on-start", home.folder.path),
      tracker: { url: oauth.url },
    },
  });
  const empty = listing(home.folder.path);
  expect((await project()).exitCode).toBe(4);
  expect(listing(home.folder.path)).toEqual(empty);

  home.folder.write("home/.claude.json", { mcpServers: { a: { command: "x" } } });
  const options = { cwd: at("project"), env: { HOME: at("home") } };
  await run(["gen"], options);
  await run(["init", "--apply", "--no-start"], options);
  await run(["skill", "install", "--claude-md"], options);
  mkdirSync(at("home/.local/share/claudikins/run"), { mode: 0o700 });
  for (const name of ["abc.lock", "abc.sock"]) home.folder.write(`home/.local/share/claudikins/run/${name}`, "");
  // An old time, so that a write would show.
  utimesSync(at("project/.claudikins/registry/index.json"), 1, 1);
  const full = listing(home.folder.path);
  const { exitCode, stdout } = await project();
  expect([exitCode, stdout]).toEqual([4, expect.stringContaining("A killed daemon left a stale socket")]);
  expect(listing(home.folder.path)).toEqual(full);
});

test("saved programs are not started like a server", async () => {
  configure({});
  home.folder.write("one.ts", "return 1;\n");
  const saved = await run(["programs", "save", "one.ts", "--name", "one"]);
  expect([saved.exitCode, saved.stderr]).toEqual([0, expect.any(String)]);
  const { findings } = JSON.parse((await run(["doctor", "--json"])).stdout) as { findings: { id: string }[] };
  expect(findings.filter(({ id }) => id.includes("programs"))).toEqual([]);
});
