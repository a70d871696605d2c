/** Calls that a person must confirm, with and without a terminal. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Approvals } from "../../src/policy/approvals/approvals.ts";
import { claudikinsCommand } from "../support/command.ts";
import { ownFolder } from "../support/own-folder.ts";
import { shellLine } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { atTerminal } from "../support/terminal.ts";
import { cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });
beforeEach(() => {
  const rec = { ...fixture("recording", join(folder.path, "got.jsonl")), confirm: "destructive" };
  folder.write("claudikins.json", { mcpServers: { rec } });
});

/** The arguments that the server received. */
const got = () => {
  const file = join(folder.path, "got.jsonl");
  return existsSync(file)
    ? readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).args)
    : [];
};

const exec = (code: string, ...flags: string[]) =>
  atTerminal([...claudikinsCommand, "exec", ...flags, "-e", code], { cwd: folder.path, env: { HOME: folder.path } });

const question = "Call it? (y: yes, this once; s: yes, for this tool until the code ends; n: no)";

describe.skipIf(process.platform === "win32")("at a terminal", () => {
  test("yes allows one call", async () => {
    await using person = exec("return [await rec.remove_it({ id: 1 }), await rec.read_it({})]");
    await person.see("Allow the call to rec.remove-it?");
    await person.see('"id": 1');
    await person.see(question);
    expect(got()).toEqual([]);
    person.type("y\r");
    await person.see('"did remove-it"');
    expect(await person.exited).toBe(0);
    expect(person.text.match(/Call it\?/g)).toHaveLength(1);
    expect(got()).toEqual([{ id: 1 }, {}]);
  });

  test("s allows all calls of the tool, but not those of other tools", async () => {
    await using person = exec(
      "for (let id = 0; id < 20; id++) await rec.remove_it({ id }); return rec.plain_it({}).catch((error) => error.code)",
    );
    await person.see(question);
    person.type("s\r");
    await person.see("Allow the call to rec.plain-it?");
    await person.see(question);
    person.type("no\r");
    await person.see("POLICY_DENIED");
    expect(await person.exited).toBe(0);
    expect(got()).toHaveLength(20);
  });

  test("no makes the call fail with POLICY_DENIED", async () => {
    await using person = exec("return rec.remove_it({})");
    await person.see(question);
    person.type("n\r");
    await person.see("rec.remove-it was not called: the person said no");
    expect(await person.exited).toBe(2);
    expect(got()).toEqual([]);
  });

  test("any other answer repeats the question, and lines typed before a question do not answer it", async () => {
    await using person = exec("return Promise.allSettled([1, 2].map((id) => rec.remove_it({ id })))");
    await person.see('"id": 1');
    await person.see(question);
    person.type("perhaps\r");
    await person.see("y, s or n?");
    person.type("\r");
    await person.see("y, s or n?");
    person.type("y\r".repeat(50));
    await person.see('"id": 2');
    await person.see(question);
    person.type("N\r");
    expect(await person.exited).toBe(0);
    expect(got()).toEqual([{ id: 1 }]);
  });

  test("a line that was begun for a server's question does not answer the next question", async () => {
    const rec = { ...fixture("recording", join(folder.path, "got.jsonl")), confirm: "destructive" };
    folder.write("claudikins.json", { mcpServers: { rec, evil: fixture("withdrawing", folder.path) } });
    const until = join(folder.path, "withdrawn");
    const ask = JSON.stringify({ key: "a", message: "Do you like it?", until });
    await using person = exec(`await evil.ask(${ask}); return rec.remove_it({ path: "/everything" })`);
    await person.see("[evil] Do you like it?");
    await person.see("Do you want to answer?");
    person.type("y");
    await person.see(") y");
    folder.write("withdrawn", "");
    await person.see("Allow the call to rec.remove-it?");
    await person.see(question);
    person.type("\r");
    await person.see("y, s or n?");
    expect(got()).toEqual([]);
    person.type("n\r");
    expect(await person.exited).toBe(2);
    expect(got()).toEqual([]);
  });

  test("the end of the input leaves all questions for later", async () => {
    await using person = exec("return await Promise.all([1, 2].map((id) => rec.remove_it({ id })))");
    await person.see(question);
    person.type("\u0004");
    await person.see("waits until you approve or deny rec.remove-it");
    expect(await person.exited).toBe(7);
    expect(person.text.match(/Call it\?/g)).toHaveLength(1);
    expect(got()).toEqual([]);
  });

  test("Ctrl-C ends the execution", async () => {
    await using person = exec("return rec.remove_it({})");
    await person.see(question);
    person.type("\u0003");
    expect(await person.exited).toBe(130);
    expect(got()).toEqual([]);
  });

  test("arguments cannot move the cursor or answer the question", async () => {
    await using person = exec('return rec.remove_it({ text: "\\u001b[2J\\u001b[31mred\\r\\ny\\n", "\\u009b1A": 1 })');
    await person.see(question);
    expect(person.text).toContain('"text": "\\u001b[2J\\u001b[31mred\\r\\ny\\n"');
    expect(person.text).toContain('"\\u009b1A": 1');
    expect(person.text).not.toContain("\u001b[31mred");
    expect(person.text).not.toContain("\u009b");
    person.type("n\r");
    expect(await person.exited).toBe(2);
  });

  test("nobody can be asked if the code comes from standard input", async () => {
    const command = `echo 'return rec.remove_it({})' | ${shellLine(claudikinsCommand)} exec -`;
    await using person = atTerminal(["sh", "-c", command], { cwd: folder.path, env: { HOME: folder.path } });
    await person.see("waits until you approve or deny rec.remove-it");
    expect(await person.exited).toBe(7);
    expect(got()).toEqual([]);
  });
});

test("a program waits without a terminal, and is continued once the call is approved", async () => {
  const { exitCode, stdout, stderr } = await cli(["exec", "-e", "return rec.remove_it({})"], { cwd: folder.path });
  expect({ exitCode, stdout }).toEqual({ exitCode: 7, stdout: "" });
  const [, id = "", approval = ""] =
    /The execution (\w+) waits until .* rec\.remove-it \(approval (\w+)\)/.exec(stderr) ?? [];
  expect(stderr).toContain(
    `Decide with claudikins approvals, or claudikins ui. For the outcome: claudikins executions wait ${id}`,
  );
  expect(got()).toEqual([]);
  await using approvals = new Approvals({ env: { HOME: folder.path } });
  await approvals.decide(approval, { state: "approved", scope: "once", by: "command" });
  expect(await cli(["executions", "wait", id], { cwd: folder.path })).toMatchObject({ exitCode: 0 });
  expect(got()).toHaveLength(1);
});

test("a call fails without a terminal if approvals do not wait, with the config line that would allow it", async () => {
  const rec = { ...fixture("recording", join(folder.path, "got.jsonl")), confirm: "destructive" };
  folder.write("claudikins.json", { mcpServers: { rec }, approvals: { wait: false } });
  const run = (...argv: string[]) => cli(["exec", "-e", "return rec.remove_it({})", ...argv], { cwd: folder.path });
  const { exitCode, stdout, stderr } = await run();
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toContain("rec.remove-it needs a person's confirmation, and nobody can be asked here");
  expect(stderr).toContain(
    'set "confirm": { "*": "destructive", "remove-it": "never" } in mcpServers.rec of the config',
  );
  expect(JSON.parse((await run("--json")).stderr)).toMatchObject({ error: { code: "POLICY_DENIED" } });
  expect(got()).toEqual([]);
});
