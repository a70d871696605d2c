/** `exec` and `programs run` with a daemon that is running: the program runs where its servers are, and its outcome is the same. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cli } from "../cli/in-memory.ts";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

// Many processes run at once on a small machine.
setDefaultTimeout(120_000);

let folder: TemporaryFolder;
beforeEach(async () => {
  folder = temporaryFolder();
  const counting = fixture("counting", join(folder.path, "counts"));
  folder.write("claudikins.json", {
    mcpServers: {
      counting,
      asked: { ...counting, confirm: "always" },
    },
    doors: { narrow: { servers: ["asked"] } },
  });
  await done("call", "counting.read");
});
afterEach(async () => {
  await claudikins("daemon", "stop", "--now");
  folder[Symbol.dispose]();
});

const env = () => ({ HOME: folder.path, CLAUDIKINS_DAEMON: "on" });

const claudikins = (...argv: string[]) => runProgram([...claudikinsCommand, ...argv], { cwd: folder.path, env: env() });

async function done(...argv: string[]): Promise<string> {
  const { stdout, stderr, exitCode } = await claudikins(...argv);
  if (exitCode !== 0) throw new Error(`${argv.join(" ")}: ${stderr}`);
  return stdout.trim();
}

/** A command that goes on, and its output when it has ended. */
function started(...argv: string[]) {
  const child = Bun.spawn([...claudikinsCommand, ...argv], {
    cwd: folder.path,
    env: testEnvironment(env()),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const ended = Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  return { child, ended };
}

/** A program that has begun once the file is there, and goes on until it is cancelled. */
const endless = `console.log("begun"); await fs.writeFile("./workspace/begun", ""); await sleep("1h");`;
const hasBegun = () => eventually(() => existsSync(join(folder.path, ".claudikins/workspace/begun")));

async function daemon(): Promise<{ pid: number; calls: { running: number; done: number } }> {
  return JSON.parse(await done("daemon", "status", "--json")).daemons[0];
}

const stateOfLast = async () => JSON.parse(await done("executions", "--json")).executions[0].reason;

test("a program runs in the daemon, and prints what it would print here", async () => {
  const code = `console.log("a line"); display({ type: "text", text: "a block" });
    return { calls: (await counting.read()).count, exact: 12345678901234567890n, none: undefined, text: "1.10" };`;
  const before = (await daemon()).calls.done;
  const there = await claudikins("exec", "-e", code);
  expect((await daemon()).calls.done).toBe(before + 1);
  const here = await claudikins("exec", "--no-daemon", "-e", code);
  const withoutTimes = (text: string) => text.replace(/\d+(?:\.\d+)? m?s/g, "some time").replace(/"calls": \d+/, "");
  expect(withoutTimes(there.stdout)).toBe(withoutTimes(here.stdout));
  expect(withoutTimes(there.stderr)).toBe(withoutTimes(here.stderr));
  expect(there.stderr).toContain("a line\na block\n[1 call");
  expect(await done("executions", "show", "last")).toContain("exec");
});

test.each([
  ["a failure", 'throw new TypeError("no")', 6],
  ["a call that is certainly wrong", "await counting.nothing()", 6],
  ["code that cannot be read", "return (", 6],
])("%s has the same text and exit code", async (_, code, exitCode) => {
  const [there, here] = [await claudikins("exec", "-e", code), await claudikins("exec", "--no-daemon", "-e", code)];
  expect(there.exitCode).toBe(exitCode);
  const errors = [there, here].map(({ stderr }) => stderr.replace(/\d+(?:\.\d+)? m?s/g, "some time"));
  expect(errors[0]).toBe(errors[1]!);
});

test("a large value, and a file for it, arrive whole", async () => {
  const text = await done("exec", "-e", 'return "x".repeat(3_000_000)', "--output", "large.txt");
  expect(text).toBe("");
  expect(readFileSync(join(folder.path, "large.txt"), "utf8").trim()).toHaveLength(3_000_000);
});

test("an interruption cancels the program, and its logs are printed", async () => {
  const { child, ended } = started("exec", "-e", endless);
  await hasBegun();
  child.kill("SIGINT");
  const [exitCode, , stderr] = await ended;
  expect(exitCode).toBe(130);
  expect(stderr).toContain("begun\n");
  expect(stderr).toContain("The execution was cancelled");
  expect(await stateOfLast()).toBe("cancelled");
});

test("an interruption that comes before the program cancels it", async () => {
  const how = { cwd: folder.path, env: testEnvironment(env()), interrupted: AbortSignal.abort() };
  const { exitCode, stderr } = await cli(["exec", "-e", "while (true) {}"], how);
  expect(exitCode).toBe(130);
  expect(stderr).toContain("The execution was cancelled");
  await eventually(async () => (await daemon()).calls.running === 0);
});

test("the program ends with a caller that is killed", async () => {
  const { child, ended } = started("exec", "-e", endless);
  await hasBegun();
  child.kill("SIGKILL");
  await ended;
  await eventually(async () => (await daemon()).calls.running === 0);
  expect(await stateOfLast()).toBe("cancelled");
});

test("a caller whose daemon dies is told that the outcome is unknown", async () => {
  const { ended } = started("exec", "-e", endless);
  await hasBegun();
  process.kill((await daemon()).pid, "SIGKILL");
  const [exitCode, , stderr] = await ended;
  expect(exitCode).toBe(4);
  expect(stderr).toContain("the outcome of the call is unknown");
});

test("a program that waits for a decision stays when its caller has gone", async () => {
  const { exitCode, stderr } = await claudikins("exec", "-e", "return 1 + (await asked.read()).count");
  expect(exitCode).toBe(7);
  const [, id = "", approval = ""] = /execution (\w+) waits .* \(approval (\w+)\)/.exec(stderr) ?? [];
  // A caller that goes cancels a program. The daemon has noticed by now that this one has gone.
  await eventually(async () => (await daemon()).calls.running === 0);
  expect(JSON.parse(await done("approvals", "--json")).approvals).toMatchObject([{ id: approval, execution: id }]);
  await done("executions", "cancel", id);
});

/** Starts a program that asks for a tool twice, and returns the ids of its execution and of the first question. */
async function waitingProgram(): Promise<[id: string, approval: string]> {
  const code = "await asked.read(); return (await asked.read()).count";
  const { exitCode, stderr } = await claudikins("exec", "-e", code);
  expect(exitCode).toBe(7);
  return /execution (\w+) waits .* \(approval (\w+)\)/.exec(stderr)!.slice(1) as [string, string];
}

async function approve(approval: string, ...how: string[]): Promise<void> {
  const terminal = { cwd: folder.path, env: testEnvironment(env()), terminal: true, answers: ["y"] };
  expect(await cli(["approvals", "approve", approval, ...how], terminal)).toMatchObject({ exitCode: 0 });
}

test("an approval for the session ends with the program", async () => {
  const [first, approval] = await waitingProgram();
  await approve(approval, "--for", "session");
  expect(Number(await done("executions", "wait", first))).toBeGreaterThan(0);
  const [second] = await waitingProgram();
  await done("executions", "cancel", second);
});

test("programs that the next daemon continues do not share an approval for the session", async () => {
  const [first, approval] = await waitingProgram();
  const [second, another] = await waitingProgram();
  await done("daemon", "stop");
  await approve(approval, "--for", "session");
  expect(Number(await done("executions", "wait", first))).toBeGreaterThan(0);
  await approve(another);
  await eventually(async () => (await done("approvals", "list", "--json")).includes(second));
  await done("executions", "cancel", second);
});

test("a program does not depend on what an earlier command has read", async () => {
  const counting = fixture("counting", join(folder.path, "counts"));
  const mcpServers = {
    crm: { ...counting, labels: ["private", "untrusted"] },
    blog: { ...counting, labels: ["public"] },
  };
  folder.write("claudikins.json", { mcpServers, policy: { flow: "strict" } });
  await done("call", "crm.read", "name=ada-secret");
  await done("exec", "-e", "return await crm.read()");
  expect(Number(await done("exec", "-e", 'return (await blog.act({ name: "x" })).count'))).toBeGreaterThan(0);
  // One program that does both is asked about, and waits.
  expect((await claudikins("exec", "-e", 'await crm.read(); return await blog.act({ name: "x" })')).exitCode).toBe(7);
});

test("a door is a door there, too", async () => {
  const code = "return Object.keys(servers)";
  expect(JSON.parse(await done("exec", "--door", "narrow", "-e", code))).toEqual(["asked"]);
  expect((await claudikins("exec", "--door", "none", "-e", code)).stderr).toContain("none");
});

test("a saved program runs there with its input", async () => {
  folder.write("double.ts", "/** Doubles a number. */\nreturn 2 * (21);");
  await done("programs", "save", "--name", "double", "double.ts", "n:=21");
  // The daemon that knew other programs has ended.
  await done("call", "counting.read");
  const before = (await daemon()).calls.done;
  expect(await done("programs", "run", "double", "n=30")).toBe("60");
  expect((await daemon()).calls.done).toBe(before + 1);
});

test.each(["--record", "--dry-run", "--wire", "--no-daemon"])(
  "with %s, this process runs the program",
  async (flag) => {
    const before = (await daemon()).calls.done;
    expect(await done("exec", flag, "-e", "return 1")).toBe("1");
    expect((await daemon()).calls.done).toBe(before);
  },
);
