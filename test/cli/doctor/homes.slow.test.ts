/**
 * doctor with the executable in homes as users have them: it is silent while nothing is wrong. Then something is broken, each command that it
 * advises is run as printed, and it is silent again.
 */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Finding } from "../../../src/cli/doctor/finding.ts";
import { markedSkill } from "../../../src/tools/registry/installed-texts.ts";
import { claudikinsCommand } from "../../support/command.ts";
import { eventually } from "../../support/eventually.ts";
import { httpServe } from "../../support/http-serve.ts";
import { oidcFixture } from "../../support/oidc.ts";
import { oldNode } from "../../support/old-nodes.ts";
import { type Ended, processesLeft, runProgram } from "../../support/process.ts";
import { everything, fixture } from "../../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

setDefaultTimeout(240_000);

let home: TemporaryFolder;
const at = (...path: string[]) => join(home.path, ...path);

const [claudikins] = claudikinsCommand;
const ownBin = dirname(claudikins);
const usualPath = `${ownBin}:/usr/bin:/bin`;

const userConfig = () => at(".config/claudikins/claudikins.json");
const registry = (...path: string[]) => at(".local/share/claudikins/registry", ...path);
/** Nothing exists at the path of its mark: a server with access to the home would be reported. */
const seen = () => fixture("seen", at("mark"));

let path = usualPath;

beforeEach(() => {
  home = temporaryFolder();
  path = usualPath;
});
afterEach(async () => {
  path = usualPath;
  await runProgram([claudikins, "daemon", "stop", "--all", "--now"], options());
  expect(await processesLeft(home.path)).toEqual([]);
  home[Symbol.dispose]();
});

const env = () => ({
  HOME: home.path,
  PATH: path,
  XDG_CONFIG_HOME: at(".config"),
  XDG_DATA_HOME: at(".local/share"),
  XDG_CACHE_HOME: at(".cache"),
  XDG_RUNTIME_DIR: "",
  CI: "",
  CLAUDIKINS_DAEMON: "on",
});

const options = (cwd = home.path) => ({ cwd, env: env() });

async function run(...argv: string[]): Promise<Ended> {
  const ended = await runProgram([claudikins, ...argv], options());
  expect([argv, ended.exitCode, ended.stderr]).toEqual([argv, 0, expect.any(String)]);
  return ended;
}

/** The warnings and problems of doctor, by their ids. */
type Faults = Record<string, Pick<Finding, "state" | "message" | "repair">>;

function faultsIn({ stdout }: Ended): Faults {
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  const faults = findings.filter(({ state }) => state !== "ok");
  return Object.fromEntries(faults.map(({ id, state, message, repair }) => [id, { state, message, repair }]));
}

async function doctor(cwd?: string): Promise<[number | null, Faults]> {
  const ended = await runProgram([claudikins, "doctor", "--json"], options(cwd));
  expect(ended.stderr).toBe("");
  return [ended.exitCode, faultsIn(ended)];
}

/** A command begins with the name of a program, and a sentence with a capital letter. */
const isCommand = (repair: string) => /^[a-z]/.test(repair);

/**
 * Expects these faults with these repairs. Runs those that are commands in one shell, and lets doctor look again in the same shell. Without
 * commands, nothing has changed that doctor could see.
 */
async function repairs(expected: Record<string, string | undefined>, exitCode: number, cwd?: string): Promise<void> {
  const [code, faults] = await doctor(cwd);
  expect(Object.fromEntries(Object.entries(faults).map(([id, { repair }]) => [id, repair]))).toEqual(expected);
  expect(code).toBe(exitCode);
  const commands = Object.values(expected).filter((repair) => repair !== undefined && isCommand(repair));
  if (commands.length === 0) return;
  // One command may repair several faults.
  const script = [
    "set -e",
    ...[...new Set(commands)].map((line) => `{\n${line}\n} >&2`),
    "claudikins doctor --json",
  ].join("\n");
  // Where the PATH has no claudikins, a user would give its path.
  const shell = path.includes(ownBin) ? script : script.replaceAll(/^claudikins /gm, `'${claudikins}' `);
  const ended = await runProgram(["/bin/sh", "-c", shell], options(cwd));
  const left = Object.entries(expected).filter(([, repair]) => repair === undefined || !isCommand(repair));
  const faultsLeft = ended.stdout === "" ? ended : Object.keys(faultsIn(ended));
  expect([faultsLeft, ended.stderr]).toEqual([left.map(([id]) => id), expect.any(String)]);
}

const isSilent = async (cwd?: string) => expect(await doctor(cwd)).toEqual([0, {}]);

const edited = (file: string, change: (text: string) => string) =>
  writeFileSync(file, change(readFileSync(file, "utf8")));

/** A home whose agent Claude Code has the servers, after `init`. */
async function connected(mcpServers: object): Promise<void> {
  home.write(".claude.json", { mcpServers });
  await run("init", "--host", "claude-code", "--apply");
}

test("a fresh home", async () => {
  await isSilent();
  home.write(".claude.json", { mcpServers: { seen: seen() } });
  await repairs({ "host.claude-code": "claudikins init --host claude-code --apply" }, 0);
  await isSilent();
  path = "/usr/bin:/bin";
  await repairs({ "executable.path": `export PATH=${ownBin}:"$PATH"` }, 0);
});

test("a fresh home whose agent has no servers", async () => {
  mkdirSync(at(".codex"));
  await repairs({ "hosts.none": "claudikins init --host codex --apply" }, 0);
  await isSilent();
});

test("a project with servers of its own", async () => {
  const project = at("a project");
  home.write(".claude.json", { mcpServers: {} });
  home.write("a project/.mcp.json", { mcpServers: { seen: seen() } });
  const init = `claudikins init --host claude-code --apply --project --config '${project}/claudikins.json'`;
  await repairs({ "host.claude-code": init }, 0, project);
  await isSilent(project);
});

test("a home with a saved program", async () => {
  await connected({ seen: seen() });
  home.write("one.ts", "return 1;\n");
  await run("programs", "save", "one.ts", "--name", "one");
  expect((await run("programs", "run", "one")).stdout).toBe("1\n");
  await isSilent();

  const program = registry("other/seen/example.ts");
  chmodSync(program, 0o640);
  edited(registry("other/seen/client.ts"), (text) => `${text}// older\n`);
  await repairs({ "registry.executable": "claudikins gen", "registry.files": "claudikins gen" }, 0);
  rmSync(registry("_runtime/bridge-code.js"));
  await repairs({ "registry.files": "claudikins gen" }, 1);
  writeFileSync(registry("index.json"), "{");
  await repairs({ "registry.index": "claudikins gen" }, 2);
  edited(userConfig(), (text) => text.replace('"seen":', '"other":'));
  const [missing, gone] = ["claudikins gen --server other", "claudikins gen"];
  await repairs({ "registry.missing": missing, "registry.gone": gone }, 0);
});

test("a home with a schedule", async () => {
  await connected({ seen: seen() });
  home.write("one.ts", "return 1;\n");
  await run("programs", "save", "one.ts", "--name", "one");
  await run("programs", "schedule", "one", "--cron", "0 8 * * 1-5", "--zone", "UTC");
  const daemons = async () => JSON.parse((await run("daemon", "status", "--json")).stdout).daemons as { pid: number }[];
  await eventually(async () => (await daemons()).length === 1);
  await isSilent();

  const [{ pid }] = (await daemons()) as [{ pid: number }];
  process.kill(pid, "SIGKILL");
  const folder = at(".local/share/claudikins/run");
  const socket = () => readdirSync(folder).find((name) => name.endsWith(".sock"));
  await eventually(async () => (await daemons()).length === 0);
  chmodSync(folder, 0o755);
  await repairs({ "daemon.folder": `chmod 700 ${folder}`, "daemon.socket": `rm ${join(folder, socket()!)}` }, 0);
  // A daemon that serves another config is not stopped with this one.
  await run("call", "seen.seen");
  home.write("gone/claudikins.json", { mcpServers: { seen: seen() } });
  await run("call", "seen.seen", "--config", at("gone/claudikins.json"), "--trust");
  rmSync(at("gone/claudikins.json"));
  const all = await daemons();
  const ofGone = all.find((each) => JSON.stringify(each).includes("gone/claudikins.json"))!;
  await repairs({ [`daemon.${ofGone.pid}`]: `claudikins daemon stop --config ${at("gone/claudikins.json")}` }, 0);
  expect((await daemons()).length).toBe(all.length - 1);
});

test("a busy machine", async () => {
  await connected({ seen: seen() });
  await run("call", "seen.seen");
  const busy = Array.from({ length: 4 }, () => Bun.spawn(["/bin/sh", "-c", "while :; do :; done"]));
  try {
    await isSilent();
  } finally {
    for (const each of busy) each.kill("SIGKILL");
  }
  // A daemon that was paused does nothing wrong, so nothing that ends it is advised.
  const [{ pid }] = JSON.parse((await run("daemon", "status", "--json")).stdout).daemons;
  process.kill(pid, "SIGSTOP");
  try {
    await repairs({ "daemon.silent": undefined }, 4);
  } finally {
    process.kill(pid, "SIGCONT");
  }
  await isSilent();
});

test("a home with slow servers", async () => {
  const slow = { command: "/bin/sh", args: ["-c", `sleep 2; exec '${seen().command}' seen '${at("mark")}'`] };
  await connected({ slow, slower: { ...slow, args: ["-c", slow.args[1]!.replace("2", "4")] } });
  await isSilent();
  edited(userConfig(), (text) => text.replace('"slow": {', '"slow": { "startTimeoutMs": 3500,'));
  const slowly = 'Raise "startTimeoutMs" of "slow" in the config.';
  await repairs({ "server.slow": slowly }, 0);
  edited(userConfig(), (text) => text.replace("3500", "30000"));
  await isSilent();
});

test("a home without Node on the PATH", async () => {
  // What shells and fixes use, and nothing else.
  for (const name of ["sh", "rm", "mv", "chmod"]) {
    mkdirSync(at("tools"), { recursive: true });
    symlinkSync(Bun.which(name)!, at("tools", name));
  }
  path = `${ownBin}:${at("tools")}`;
  await connected({ seen: seen() });
  await isSilent();
  const file = registry("other/seen/seen.ts");
  const called = await runProgram([file, "{}"], options());
  expect([called.exitCode, called.stderr]).toEqual([0, ""]);
});

test.each([18, 20] as const)("a home with Node %i", async (major) => {
  const node = oldNode(major);
  if (node === undefined)
    return console.warn(
      `Node ${major} is not tried: the npm registry has none for this machine, or cannot be reached.`,
    );
  path = `${ownBin}:${node}:/bin`;
  mkdirSync(at("tools"));
  symlinkSync(Bun.which("env")!, at("tools/env"));
  const version = await runProgram(["/bin/sh", "-c", "node --version"], options());
  expect(version.stdout).toStartWith(`v${major}.`);
  await connected({ seen: seen(), everything: everything() });
  await isSilent();
  const called = await runProgram([registry("other/seen/seen.ts"), "{}"], options());
  expect([called.exitCode, called.stderr]).toEqual([0, ""]);
});

test("a home with a door", async () => {
  mkdirSync(at(".codex"));
  await connected({ seen: seen(), other: seen() });
  await run("doors", "add", "qa", "seen");
  await run("init", "--host", "codex", "--door", "qa", "--apply");
  await isSilent();
  await run("doors", "remove", "qa");
  await repairs({ "config.doors.qa": "claudikins doors add qa" }, 2);
  await isSilent();
});

test("a home of a team", async () => {
  await using provider = await oidcFixture({ ann: { groups: ["it"] } });
  const oidc = { issuer: provider.issuer, audience: "https://tools.example.com", doors: { mcp: ["it"] } };
  home.write(".config/claudikins/claudikins.json", { mcpServers: { seen: seen() }, auth: { oidc } });
  chmodSync(userConfig(), 0o600);
  await run("gen");
  await using _ = await httpServe(home, ["--config", userConfig()], { env: env(), token: "kept" });
  await isSilent();

  const [token] = (await run("tokens", "add", "--expires", "2d", "--json")).stdout.match(/(?<="id": ?")\w+/) ?? [];
  provider.aheadMs = 60_000;
  home.write(".local/share/claudikins/credentials.json", "{");
  await repairs(
    {
      [`config.tokens.${token}`]: `Make another one with "claudikins tokens add", give it to the agent, and then: claudikins tokens revoke ${token}`,
      "people.clock": 'Set the clock, or raise "clockSkewSeconds" in auth.oidc',
      "sign-ins.file": `mv ${at(".local/share/claudikins/credentials.json")} ${at(".local/share/claudikins/credentials.json.damaged")}`,
    },
    3,
  );
  await run("tokens", "add");
  await run("tokens", "revoke", token!);
  edited(userConfig(), (text) => text.replace('"issuer"', '"clockSkewSeconds": 120, "issuer"'));
  await isSilent();
});

test("a project with wrong files, rights and links", async () => {
  home.write(".claude.json", { mcpServers: {} });
  const project = at("project");
  mkdirSync(join(project, ".git"), { recursive: true });
  const file = home.write("project/claudikins.json", {
    mcpServers: { seen: { ...seen(), env: { TOKEN: "ghp_abcdefghijklmnop1234" } } },
  });
  chmodSync(file, 0o644);
  await run("trust", "--yes", file);
  await run("init", "--host", "claude-code", "--apply");
  writeFileSync(join(project, ".claudikins"), "a file");
  const skill = at(".claude/skills/claudikins/SKILL.md");
  home.write(".claude/skills/claudikins/SKILL.md", markedSkill("---\nname: claudikins\n---\n"));
  await repairs(
    {
      "config.secrets": `echo claudikins.json >> ${join(project, ".gitignore")}`,
      "config.rights": `chmod 600 ${file}`,
      "folder.registry": `mv ${join(project, ".claudikins")} ${join(project, ".claudikins.old")}`,
      "folder.workspace": `mv ${join(project, ".claudikins")} ${join(project, ".claudikins.old")}`,
      "skill.user.claude-code": "claudikins skill install --host claude-code",
    },
    2,
    project,
  );
  expect(readFileSync(skill, "utf8")).toContain("search");
  symlinkSync(at("elsewhere"), join(project, ".claudikins"));
  const remove = `rm ${join(project, ".claudikins")}`;
  await repairs({ "folder.registry": remove, "folder.workspace": remove }, 2, project);
  await isSilent(project);
});

test("a home with broken entries", async () => {
  home.write(".cursor/mcp.json", { mcpServers: { nothing: { cmd: 5 } } });
  await connected({
    seen: seen(),
    gone: { command: at("gone") },
    ends: { command: "/bin/sh", args: ["-c", "echo no database >&2; exit 3"] },
  });
  await repairs(
    {
      "server.gone": 'Correct "command" in the config: there is no such file.',
      "server.ends": "Run its command from the config by hand to see more.",
    },
    4,
  );
  await run("remove", "gone", "ends");
  await isSilent();
  edited(at(".claude.json"), (text) => text.replace(JSON.stringify(claudikins), JSON.stringify(at("gone/claudikins"))));
  const command = `In ${at(".claude.json")}, set the command to: ${claudikins} serve`;
  await repairs({ "host.claude-code": command }, 2);
  edited(at(".claude.json"), (text) => text.replace(at("gone/claudikins"), claudikins));
  await isSilent();
  edited(at(".claude.json"), (text) => text.replace(/^\{/, ""));
  await repairs({ "host.claude-code.file": `Fix ${at(".claude.json")} by hand.` }, 2);
});
