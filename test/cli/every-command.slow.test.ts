/** Every command: exit code, stdout and stderr of success, wrong usage and failure; its help; its JSON. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { version } from "../../src/base/version.ts";
import type { Command, Group } from "../../src/cli/command.ts";
import { commandValues, readCommandLine, withDefault } from "../../src/cli/command-line.ts";
import { commands, sections, shownOf } from "../../src/cli/command-table.ts";
import { readBashLine } from "../../src/cli/completions/bash-line.ts";
import { Approvals } from "../../src/policy/approvals/approvals.ts";
import { asking } from "../store/approvals.ts";
import { root } from "../support/claudikins.ts";
import { claudikinsCommand } from "../support/command.ts";
import { checkJson, entries } from "../support/command-json.ts";
import { generatedProject } from "../support/daemon.ts";
import { type Llm, startLlm } from "../support/llm.ts";
import { type NetworkFixture, networkFixture } from "../support/network.ts";
import { runProgram } from "../support/process.ts";
import { fixturePrograms } from "../support/servers.ts";
import { withName } from "../support/shown-paths.ts";
import { inStore, storeExecution } from "../support/stored.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { startVault, type Vault } from "../support/vault.ts";
import { type Case, keptId, table } from "./every-command.ts";
import { type CliResult, cli, page } from "./in-memory.ts";

// Real servers start slowly on a small machine.
setDefaultTimeout(60_000);

/** Commands that print nothing on stdout with `--json`, which only changes the format of their failures. */
const silent = ["daemon run"];

/** Commands whose exit code depends on what they found, even if they print it on stdout. */
const verdicts = ["doctor", "setup", "programs test", "programs check"];

/** A server on the network without a sign-in. Its port also serves as one that is already taken. */
let network: NetworkFixture;
/** Chooses the first option that contains a word of the task, otherwise the first. */
let llm: Llm;
let vault: Vault;
beforeAll(async () => {
  vault = startVault("t");
  network = await networkFixture("streamable");
  llm = startLlm(({ body }) => {
    const [task = ""] = /Task: .*/.exec(body.messages.at(-1)?.content ?? "") ?? [];
    const { choice } = (body.response_format?.json_schema?.schema["properties"] ?? {}) as {
      choice?: { enum: string[] };
    };
    return choice ? { choice: choice.enum.find((name) => task.includes(name.slice(0, 4))) ?? choice.enum[0] } : {};
  });
});
afterAll(() => Promise.all([network, llm, vault].map((each) => each[Symbol.asyncDispose]())));

test("the table lists every command", () => {
  expect(Object.keys(table).sort()).toEqual(entries.map(({ path }) => path).sort());
});

test("the general help lists every command once, without internal ones", () => {
  const shown = Object.values(sections).flat();
  expect(shown.toSorted()).toEqual(
    shownOf(commands)
      .map(([name]) => name)
      .sort(),
  );
});

/** Runs a call, and returns its result and its folder. */
async function run(
  path: string,
  { argv, files = {}, before = [], options, waits, keeps, signedIn, startsDaemon, isProcess }: Case,
  ...flags: string[]
) {
  using folder = temporaryFolder();
  await using approvals = new Approvals({ env: { HOME: folder.path } });
  const id = waits ? (await approvals.ask(waitingCall())).id : "APPROVAL";
  if (keeps) await keepExecution(folder.path);
  if (signedIn) await signIn(folder.path);
  const filled = (text: string) =>
    text
      .replaceAll("FOLDER", folder.path)
      .replaceAll("APPROVAL", id)
      .replaceAll("PORT", String(network.port))
      .replaceAll("LLM", new URL(llm.baseUrl).port)
      .replaceAll("VAULT", String(vault.port));
  const env = Object.entries(options?.env ?? {}).map(([name, value]) => [name, value && filled(value)]);
  for (const [name, content] of Object.entries(files)) {
    folder.write(name, filled(typeof content === "string" ? content : JSON.stringify(content, null, 2)));
  }
  for (const words of before) await prepare(words, folder);
  const whole = [...path.split(" "), ...flags, ...argv.map(filled)];
  const result = isProcess
    ? await runProgram([...claudikinsCommand, ...whole], { cwd: folder.path, env: { HOME: folder.path } })
    : await cli(whole, { cwd: folder.path, ...options, ...(options?.env ? { env: Object.fromEntries(env) } : {}) });
  if (startsDaemon) await cli(["daemon", "stop", "--all", "--now"], { cwd: folder.path });
  const { exitCode, ...texts } = result;
  return { argv: whole, folder: folder.path, id, exitCode: exitCode ?? -1, ...texts };
}

/** Stores an execution of the demo that has ended. */
async function keepExecution(home: string): Promise<void> {
  const receipt = { id: keptId, durationMs: 1, calls: 0, failures: 0, tools: {}, charsIn: 0, charsOut: 2 };
  const outcome = { ok: true, value: 42, logs: [], display: [], receipt };
  await storeExecution(home, keptId, { startedAt: Date.now(), request: { source: "return 6 * 7" }, outcome });
}

/** A person signs in with the config of the folder. */
async function signIn(home: string): Promise<void> {
  const person = { id: "0123456789abcdef", issuer: "https://login.example.com", subject: "ann", doors: ["qa"] };
  const named = { name: "ann@example.com", email: "ann@example.com", config: join(home, "claudikins.json") };
  const now = Date.now();
  const row = { ...person, ...named, firstAt: now, lastAt: now, revokedAt: null };
  await inStore(home, (store) => store.people.seen(row));
}

/** A call of the demo that waits since this moment. */
function waitingCall() {
  const askedAt = Date.now();
  return asking({ config: null, askedAt, expiresAt: askedAt + 86_400_000 });
}

async function prepare(words: string[], folder: TemporaryFolder): Promise<void> {
  const [first, name = "", from = "", to = "\n"] = words;
  if (first === "WRITE") folder.write(name, from);
  else if (first === "CHANGE") {
    const file = join(folder.path, name);
    const text = readFileSync(file, "utf8");
    // A file is appended to if no text to replace is given.
    writeFileSync(file, from === "" ? text + to : text.replace(from, to));
  } else {
    const stdin = first === "secrets" ? "value-0815-4711\n" : "";
    expect(await cli(words, { cwd: folder.path, stdin })).toMatchObject({ exitCode: 0 });
  }
}

type Ended = CliResult & { argv: string[]; folder: string; id: string };

/** The output as one text, with names in place of everything that differs between runs and machines. */
function shown({ argv, folder, id, ...result }: Ended): string {
  const text = page(argv, result, folder);
  const named = [
    [fixturePrograms(), "FIXTURES"],
    [process.execPath, "BUN"],
    [root, "ROOT"],
  ] as const;
  return (
    named
      .reduce((all, [path, name]) => withName(all, path, name), text)
      .replaceAll(id, "APPROVAL")
      .replace(new RegExp(`\\b${basename(process.execPath)}\\b *`, "g"), "BUN ")
      .replace(/\bfixtures\b */g, "FIXTURES ")
      .replaceAll(version, "VERSION")
      .replace(/\(Bun [^)]*\)/g, "(RUNTIME)")
      .replace(/(127\.0\.0\.1:)\d{4,}/g, "$1PORT")
      .replace(/(ssh -L )\d+/g, "$1PORT")
      .replace(/\/[\w-]{22}\/#[\w-]{43}/g, "/PATH/#TOKEN")
      .replace(/(claudikins-|\/)[0-9a-f]{8,}(?=\.sock)/g, "$1KEY")
      .replace(/process \d+/g, "process PID")
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z \d+/g, "TIME PID")
      .replace(/^( +)\d{4}-\d\d-\d\d \d\d:\d\d$/gm, "$1DATE TIME")
      .replace(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?= {2})/gm, "DATE TIME")
      .replace(/port \d{4,}/g, "port PORT")
      .replace(/\([\d,]+ [kM]B\)/g, "(SIZE)")
      .replace(/"bytes": \d+/g, '"bytes": N')
      .replace(/^[0-9a-hjkmnp-tv-z]{8,}(?= {2}(?:just now|\d))/gm, "ID")
      .replace(/\d+ +\d+ MB/g, "PID  N MB")
      .replace(/^[\da-hjkmnp-tv-z]{28}(?= {2,}just now)/gm, "ID")
      .replace(/\b0t[\da-hjkmnp-tv-z]{26}\b/g, (each) => (each === keptId ? each : "ID"))
      .replace(/\bck_[\w-]{43}/g, "TOKEN")
      .replace(/(?<=^|\btoken |\brevoke |\bRevoked )[\da-f]{8}(?= )|(?<=\brevoke )[\da-f]{8}$/gm, "ID")
      // The widths of columns depend on their contents.
      .replace(/(?<=\S) {2,}/g, "  ")
  );
}

describe.each(Object.entries(table))("%s", (path, { success, usage, failure, json = [] }) => {
  let command: Command;
  beforeAll(async () => {
    command = (await entries.find((each) => each.path === path)!.entry.load()).default;
  });

  test("has help", async () => {
    const words = path.split(" ");
    const help = await cli([...words, "--help"]);
    expect(page([...words, "--help"], help)).toMatchSnapshot();
    expect(help.stdout).not.toMatch(/ $/m);
    // The same with -h, with other words, and before the command.
    expect(await cli([...words, "-h"])).toEqual(help);
    expect(await cli([...words, "--bogus", "x", "y", "--help"])).toEqual(help);
    expect(await cli(["help", ...words])).toEqual(help);
  });

  test("has help as JSON with every flag and the shape of the --json output", async () => {
    const { stdout, exitCode } = await cli([...path.split(" "), "--help", "--json"]);
    const help = JSON.parse(stdout);
    expect([exitCode, help.command, help.examples]).toEqual([0, path, command.examples]);
    const names = [...help.arguments, ...help.options].map(({ name }: { name: string }) => name.replace(/^--/, ""));
    expect(names.sort()).toEqual(Object.keys(command.args).sort());
    expect(help.output?.success).toEqual(command.json && JSON.parse(JSON.stringify(command.json)));
    if (command.json) expect(help.output.typescript).toContain("Output");
    // The help for people does not contain the shape.
    expect((await cli([...path.split(" "), "--help"])).stdout).not.toContain("interface ");
  });

  test("has help that fits a narrow terminal", async () => {
    const columns = 78;
    const { stdout } = await cli([...path.split(" "), "--help"], { terminal: true, columns });
    const [words = ""] = Bun.stripANSI(stdout).split("\nExamples:");
    expect(words.split("\n").filter((line) => line.length > columns && !line.startsWith("Usage:"))).toEqual([]);
    const { stdout: whole } = await cli([...path.split(" "), "--help"]);
    const plain = (text: string) => Bun.stripANSI(text).replace(/\s+/g, " ");
    expect(plain(stdout)).toBe(plain(whole));
  });

  test("accepts each of its examples", () => {
    expect(command.examples.length).toBeGreaterThan(0);
    for (const example of command.examples) {
      const [, inner] = /\$\((claudikins [^)]*)\)/.exec(example) ?? [];
      const { words, current, isRedirection } = readBashLine(
        inner ?? example.slice(example.lastIndexOf("claudikins ")),
        "",
      );
      const all = isRedirection ? words : [...words, current];
      // One example shows the next command.
      const { entry, rest } = withDefault(readCommandLine(all.slice(1), commands));
      if (entry === entries.find((each) => each.path === path)!.entry) {
        expect(() => commandValues(rest, command.args, path)).not.toThrow();
      }
    }
  });

  test("succeeds", async () => {
    const ended = await run(path, success);
    expect(shown(ended)).toMatchSnapshot();
    expect(ended.exitCode).toBe(0);
  });

  test("refuses wrong usage", async () => {
    const ended = await run(path, usage);
    expect(shown(ended)).toMatchSnapshot();
    expect([ended.exitCode, ended.stdout]).toEqual([2, ""]);
  });

  test.skipIf(!failure)("fails", async () => {
    const ended = await run(path, failure!);
    expect(shown(ended)).toMatchSnapshot();
    expect(ended.exitCode).toBeGreaterThan(0);
  });

  test("prints with --json only what its help describes", async () => {
    const { args, json: shape } = command;
    expect("json" in args).toBe(shape !== undefined || silent.includes(path));
    if (!("json" in args)) return;
    for (const each of [success, usage, ...(failure ? [failure] : []), ...json]) {
      const ended = await run(path, each, "--json");
      // Exactly one of them has text: the data, or the error.
      const isDone = ended.exitCode === 0 || (verdicts.includes(path) && each !== usage) || each.options?.interrupted;
      expect([ended.argv, ended.stdout === ""]).toEqual([ended.argv, !isDone || silent.includes(path)]);
      await checkJson(ended.argv, ended);
    }
  });
});

test("the example of the general help works", async () => {
  using folder = temporaryFolder();
  const { stdout } = await cli(["--help"]);
  const [, code] = /claudikins exec -e '(.*)'/.exec(stdout) ?? [];
  const ended = await cli(["exec", "-e", code!], { cwd: folder.path });
  expect([ended.exitCode, Number(ended.stdout)]).toEqual([0, expect.any(Number)]);
  // One screen.
  expect(stdout.split("\n").length).toBeLessThanOrEqual(55);
  expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThan(100);
});

test("the JSON output of running daemons has the documented shape", async () => {
  await using project = await generatedProject();
  await project.value("seen");
  for (const argv of [
    ["daemon", "status", "--json"],
    ["daemon", "logs", "--json"],
    ["daemon", "stop", "--all", "--json"],
  ]) {
    const { exitCode, stdout, stderr } = await project.claudikins(...argv);
    expect(stdout).toMatch(/"pid":|"lines":\["/);
    await checkJson(argv, { exitCode: exitCode ?? -1, stdout, stderr });
  }
});

const groups = Object.entries(commands).filter(([, entry]) => "commands" in entry);

test("the general help as JSON lists the commands", async () => {
  const all = JSON.parse((await cli(["--help", "--json"])).stdout);
  expect(all).toMatchObject({
    version,
    commands: expect.arrayContaining([{ command: "exec", description: expect.any(String) }]),
  });
  expect(
    JSON.parse((await cli(["auth", "--help", "--json"])).stdout).commands.map(
      ({ command }: { command: string }) => command,
    ),
  ).toEqual(["auth login", "auth logout", "auth status"]);
});

describe.each(groups)("%s", (name) => {
  test("has help, and prints it as an error without a subcommand, unless it has a default", async () => {
    const help = await cli([name, "--help"]);
    expect(page([name, "--help"], help)).toMatchSnapshot();
    for (const argv of [
      [name, "-h"],
      ["help", name],
      ["help", name, "--help"],
    ]) {
      expect([argv, await cli(argv)]).toEqual([argv, help]);
    }
    const { default: standard } = commands[name] as Group;
    const bare = await cli([name]);
    if (standard !== undefined) expect(bare).toEqual(await cli([name, standard]));
    else expect(bare).toEqual({ exitCode: 2, stdout: "", stderr: help.stdout });
  });

  test("refuses an unknown subcommand", async () => {
    expect(page([name, "nope"], await cli([name, "nope"]))).toMatchSnapshot();
    expect(await cli([name, "nope", "--json"])).toMatchObject({ exitCode: 2, stdout: "" });
  });
});

test("checkJson fails for output that does not have the documented shape", async () => {
  const printed = (stdout: string, stderr = "", exitCode = 0) =>
    checkJson(["daemon", "stop", "--json"], { exitCode, stdout, stderr });
  await printed('{"stopped":[{"pid":1,"config":null}]}\n');
  await printed("", '{"error":{"code":"USAGE","message":"x"}}\n', 2);
  for (const wrong of [
    '{"stopped":[{"pid":1}]}\n',
    '{"stopped":[],"more":1}\n',
    "text\n",
    '{"stopped":[]}\n\n',
    '{"stopped":[]}',
  ]) {
    await expect(printed(wrong)).rejects.toThrow("does not print what its help says");
  }
  for (const wrong of [
    "error: x\n",
    "",
    '{"error":{"code":"USAGE"}}\n',
    '{"error":{"code":"USAGE","message":"x"},"more":1}\n',
  ]) {
    await expect(printed("", wrong, 2)).rejects.toThrow("does not print what its help says");
  }
});
