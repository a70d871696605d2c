/** `claudikins logs`, run as processes after servers were started. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { claudikinsCommand } from "../support/command.ts";
import { ownFolder } from "../support/own-folder.ts";
import { processesLeft, runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { type CliResult, cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
let env: Record<string, string>;
beforeEach(() => {
  env = { XDG_DATA_HOME: join(folder.path, "data"), XDG_CONFIG_HOME: join(folder.path, "config") };
  configure({ shop: fixture("chatty", folder.path), "big shop": fixture("chatty", folder.path) });
});

const configure = (mcpServers: object, more: object = {}) => folder.write("claudikins.json", { mcpServers, ...more });

const run = (...argv: string[]) => cli(argv, { cwd: folder.path, env });
const logs = (...argv: string[]) => run("logs", ...argv);

/** `server` is its name in code. */
async function say(text: string, server = "shop"): Promise<void> {
  const { exitCode, stderr } = await run(
    "exec",
    "-e",
    `await ${server}.write({ text: ${JSON.stringify(`${text}\n`)} })`,
  );
  expect([exitCode, stderr.replace(/[\d,.]+/g, "N")]).toEqual([0, "[N call · N ms]\n"]);
}

/** The output, with words in place of what differs between runs. */
const shown = ({ exitCode, stdout, stderr }: CliResult) => ({
  exitCode,
  stdout: stdout
    .replaceAll(folder.path, "FOLDER")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/TIME \d+/g, "TIME PID")
    .replace(/"process":\d+/g, '"process":"PID"')
    .replace(/\(process \d+\)/g, "(process PID)")
    .replace(/-[\da-f]{12}\.log/g, "-HASH.log")
    .replace(/\d+ ms/g, "N ms")
    // The two come over different pipes.
    .replace(/(.* ready .*\n)(.* stderr {2}chatty is starting\n)/, "$2$1"),
  stderr: stderr.replaceAll(folder.path, "FOLDER"),
});

test("logs prints the last lines of a server's output, as text or JSON", async () => {
  await say("hello");
  expect(shown(await logs("shop"))).toEqual({
    exitCode: 0,
    stdout: `TIME PID start   its process was started by claudikins (process PID)
TIME PID stderr  chatty is starting
TIME PID ready   after N ms: chatty 1.2.3
TIME PID stderr  hello
TIME PID end     by claudikins: claudikins is closing
`,
    stderr: "",
  });
  expect(shown(await logs("shop", "-n", "2")).stdout.split("\n")[0]).toBe("TIME PID stderr  hello");
  const json = JSON.parse(shown(await logs("shop", "--lines", "2", "--json")).stdout);
  expect(json).toEqual({
    server: "shop",
    config: "FOLDER/claudikins.json",
    path: "FOLDER/data/claudikins/logs/shop-HASH.log",
    lines: [
      { at: "TIME", process: "PID", kind: "stderr", text: "hello" },
      { at: "TIME", process: "PID", kind: "end", text: "by claudikins: claudikins is closing" },
    ],
  });
  expect((await logs("shop", "--since", "1h")).stdout).toContain("hello");
  expect((await logs("shop", "--since", "2026-01-01")).stdout).toContain("hello");
  const path = (await logs("shop", "--path")).stdout.trim();
  expect(existsSync(path)).toBe(true);
  expect(JSON.parse((await logs("shop", "--path", "--json")).stdout)).toEqual({ path });
});

test("the log of a server that could not be added can be read, but is not listed", async () => {
  configure({ shop: fixture("chatty") });
  const { command, args } = fixture("crash-on-start");
  expect((await run("add", "crash", "--", command, ...args)).exitCode).toBe(4);
  expect((await logs()).stdout).toBe("");
  expect(JSON.parse((await logs("--json")).stdout)).toEqual({ logs: [] });
  expect((await logs("crash")).stdout).toContain("fatal: no database");
});

test("logs lists the logs of this config's servers, or of all with --all", async () => {
  expect(await logs()).toEqual({
    exitCode: 0,
    stdout: "",
    stderr: "There are no logs yet: a log is created when a server starts.\n",
  });
  await say("hello");
  await say("hello", "big_shop");
  const other = folder.write("other/claudikins.json", { mcpServers: { shop: fixture("chatty") } });
  await run("exec", "--config", other, "-e", "shop.write({ text: 'from another' })");
  configure({ shop: fixture("chatty") });
  // A log whose server is not in the config causes a note, and is listed with --all.
  expect(await logs()).toEqual({
    exitCode: 0,
    stdout: "server  last line  size\nshop    just now   1 kB\n",
    stderr: "note: 1 more log of servers that are not in the config: claudikins logs --all\n",
  });
  const { logs: found } = JSON.parse(shown(await logs("--json")).stdout);
  expect(found).toEqual([
    expect.objectContaining({ server: "shop", config: "FOLDER/claudikins.json", lastAt: "TIME", isConfigured: true }),
  ]);
  const { logs: all } = JSON.parse(shown(await logs("--all", "--json")).stdout);
  expect(all).toContainEqual(expect.objectContaining({ server: "big shop", isConfigured: false }));
  expect((await logs("--all")).stdout).toContain(other);
  expect((await logs("big shop")).stdout).toContain("hello");
  expect((await logs("shop")).stdout).not.toContain("another");
  expect((await logs("shop", "--config", other)).stdout).toContain("from another");
  // The same without any servers in the config.
  folder.write("claudikins.json", "{ broken");
  expect((await logs("shop")).stdout).toContain("hello");
});

test("logs of the demo server can be read", async () => {
  using empty = temporaryFolder();
  const options = { cwd: empty.path, env };
  await cli(["exec", "-e", "await demo.list_orders(); return 1"], options);
  expect(shown(await cli(["logs", "demo"], options)).stdout).toContain("ready   after N ms: claudikins-demo");
});

test("the log of a shared server has its one start, its messages to all users, and why it ended", async () => {
  mkdirSync(join(folder.path, "run"), { mode: 0o700 });
  const shared = { ...env, XDG_RUNTIME_DIR: join(folder.path, "run"), CLAUDIKINS_DAEMON: "on" };
  const claudikins = (...argv: string[]) =>
    runProgram([...claudikinsCommand, ...argv], { cwd: folder.path, env: shared });
  const code = (text: string) => `await shop.write({ text: "${text}\\n" })`;
  try {
    expect((await claudikins("exec", "-e", code("from the first"))).exitCode).toBe(0);
    const { stderr } = await claudikins("exec", "--wire", "-e", code("from the second"));
    expect(stderr).toMatch(/shop → tools\/call #\d \(\d+ bytes\) \{"name": "write"/);
    expect(stderr).toMatch(/shop ← result of tools\/call #\d after [\d.]+ m?s/);
  } finally {
    await claudikins("daemon", "stop");
  }
  const { stdout } = shown(await logs("shop"));
  expect(stdout.split("\n").map((line) => line.replace("TIME PID ", ""))).toEqual([
    "start   its process was started by claudikins (process PID)",
    "stderr  chatty is starting",
    "ready   after N ms: chatty 1.2.3",
    "stderr  from the first",
    "stderr  from the second",
    "end     by claudikins: claudikins is closing",
    "",
  ]);
  expect(await processesLeft(folder.path)).toEqual([]);
});

test("--clear deletes logs", async () => {
  await say("hello");
  await say("hello", "big_shop");
  expect(await logs("shop", "--clear")).toEqual({ exitCode: 0, stdout: "", stderr: "Deleted the logs of: shop\n" });
  expect(await logs("shop")).toEqual({
    exitCode: 0,
    stdout: "",
    stderr: "shop has no log yet: the log is created when the server starts.\n",
  });
  expect((await logs("--clear", "--json")).stdout).toBe('{"cleared":["big shop"]}\n');
  expect((await logs("--clear")).stderr).toBe("There were no logs to delete.\n");
});

describe("nothing is logged", () => {
  test('with "logs": false', async () => {
    configure({ shop: fixture("chatty", folder.path) }, { logs: false });
    await say("hello");
    expect(existsSync(join(folder.path, "data", "claudikins", "logs"))).toBe(false);
    expect((await logs("shop")).stderr).toBe('Logging is off: the config has "logs": false.\n');
  });

  test("if the folder cannot be written to; everything else works", async () => {
    folder.write("data/claudikins/logs", "a file in the place of the folder");
    await say("hello");
    expect((await logs("shop")).exitCode).toBe(0);
    const { stderr } = await runProgram(
      [...claudikinsCommand, "exec", "-e", "shop.write({ text: 'x' })", "--verbose"],
      {
        cwd: folder.path,
        env,
      },
    );
    expect(stderr.match(/The log .* cannot be written/g)).toHaveLength(1);
  });
});

test.each([
  [["shp"], 'error: No server is called "shp", and no log has that name\n\nhint: Did you mean shop?\n'],
  [["--follow"], "error: --follow needs a server\n\nhint: To list the logs: claudikins logs\n"],
  [["--since", "1h"], "error: --since needs a server\n\nhint: To list the logs: claudikins logs\n"],
  [["shop", "--all"], "error: Give a server or --all, not both\n"],
  [
    ["shop", "--since", "soon"],
    'error: --since takes a time like 30m, 12h or 7d, or a date like 2026-11-23; got "soon"\n',
  ],
  [["shop", "-n", "0"], 'error: --lines takes a whole number from 1 to 1000000; got "0"\n'],
  [["shop", "--clear", "-f"], "error: --clear cannot be used with --follow\n"],
  [["shop", "--path", "--clear"], "error: --path cannot be used with --clear\n"],
])("%j is refused", async (argv, stderr) => {
  expect(await logs(...argv)).toEqual({ exitCode: 2, stdout: "", stderr });
});

describe("--follow", () => {
  const start = (...argv: string[]) =>
    Bun.spawn([...claudikinsCommand, "logs", "shop", "--follow", ...argv], {
      cwd: folder.path,
      env: testEnvironment(env),
      stdout: "pipe",
      stderr: "pipe",
    });

  interface Reader {
    read(): Promise<{ value?: Uint8Array | undefined; done: boolean }>;
  }

  /** Reads until the text appears, and returns everything before it. */
  async function until(reader: Reader, text: string): Promise<string> {
    let all = "";
    while (!all.includes(text)) {
      const { value, done } = await reader.read();
      if (done) throw new Error(`it ended before "${text}": ${all}`);
      all += new TextDecoder().decode(value);
    }
    return all;
  }

  test.each([["SIGINT"], ["SIGTERM"]] as const)("prints new lines, and exits with 130 at %s", async (signal) => {
    await say("before");
    const child = start("-n", "2");
    const reader = child.stdout.getReader();
    expect((await until(reader, "is closing\n")).match(/\n/g)).toHaveLength(2);
    await say("while it is followed");
    await until(reader, "while it is followed\n");
    // The same after the file was replaced.
    await logs("shop", "--clear");
    await say("in another file");
    await until(reader, "in another file\n");
    child.kill(signal);
    expect([await child.exited, await child.stderr.text()]).toEqual([130, ""]);
    expect(await processesLeft(folder.path)).toEqual([]);
  });

  test("waits for a log that does not exist yet; --json prints one document per line", async () => {
    const child = start("--json");
    const reader = child.stdout.getReader();
    await say("the first");
    const lines = (await until(reader, 'is closing"}\n')).trimEnd().split("\n");
    const kinds: string[] = lines.map((line) => JSON.parse(line).kind);
    expect([kinds[0], kinds.at(-1)]).toEqual(["start", "end"]);
    // The server may write before or after it is ready.
    expect(kinds.slice(1, -1).sort()).toEqual(["ready", "stderr", "stderr"]);
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
  });

  test("ends when its reader closes the pipe", async () => {
    await say("before");
    const child = start();
    const reader = child.stdout.getReader();
    await until(reader, "before");
    await reader.cancel();
    // It notices when it writes the next line.
    await say("after");
    expect(await child.exited).toBe(0);
  });
});

test("colours are used at a terminal, unless NO_COLOR is set", async () => {
  await say("hello");
  const watched = (more: Record<string, string> = {}) =>
    cli(["logs", "shop"], { cwd: folder.path, env: { ...env, ...more }, terminal: true });
  expect((await watched()).stdout).toContain("\u001b[36mstart ");
  expect((await watched({ NO_COLOR: "1" })).stdout).not.toContain("\u001b");
  expect((await logs("shop")).stdout).not.toContain("\u001b");
});

test("the folder of logs can be deleted at any time", async () => {
  await say("hello");
  rmSync(join(folder.path, "data"), { recursive: true });
  await say("again");
  expect(readdirSync(join(folder.path, "data", "claudikins", "logs"))).toHaveLength(1);
});
