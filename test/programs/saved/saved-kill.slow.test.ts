/** A process that runs a program with a saved program is killed. Another process continues both, and makes each call once. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { cli } from "../../cli/in-memory.ts";
import { eventually } from "../../support/eventually.ts";
import { fixture } from "../../support/servers.ts";
import { type Project, project } from "../../tools/generation/project.ts";
import { callsIn, killed as runKilled } from "../stored/killed.ts";

// Many processes run at once on a small machine.
setDefaultTimeout(120_000);

let folder: Project;
let counts: string;
beforeEach(() => {
  folder = project();
  counts = join(folder.path, "counts");
  folder.configure({ counting: fixture("counting", counts) });
});
afterEach(() => folder[Symbol.dispose]());

const env = () => ({ PATH: process.env["PATH"], HOME: folder.path, CI: "true" });

/** The calls that the server has received: tool and name. */
const called = () => callsIn(counts);

async function save(name: string, code: string): Promise<void> {
  folder.write(`${name}.ts`, code);
  const argv = ["programs", "save", `${name}.ts`, "--name", name];
  const { exitCode, stderr } = await cli(argv, { cwd: folder.path });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
}

const killed = (code: string, ready: () => Promise<unknown>) =>
  runKilled(code, { cwd: folder.path, env: env() }, ready);

async function continued(id: string) {
  await using app = await folder.open();
  const followed = await (await app.executions()).follow(id, app);
  return await followed.outcome;
}

const outer = `const before = await counting.act({ name: "before" });
const inner = await programs.inner({ until: UNTIL });
await counting.act({ name: "after" });
return inner;`;

const inner = `await counting.act({ name: "first" });
await counting.read_wait({ name: "wait", until: input.until });
await counting.act({ name: "last" });
return "done";`;

test("a program whose saved program waits continues where both were", async () => {
  await save("inner", inner);
  const until = join(folder.path, "until");
  const code = outer.replace("UNTIL", JSON.stringify(until));
  const id = await killed(code, () => eventually(() => called().includes("read_wait wait")));
  folder.write("until", "");
  expect(await continued(id)).toMatchObject({ ok: true, value: "done" });
  const acts = called().filter((call) => call.startsWith("act"));
  expect(acts).toEqual(["act before", "act first", "act last", "act after"]);
});

test("the outcome of a saved program that ended before its caller continued is used", async () => {
  await save("inner", inner);
  const until = join(folder.path, "until");
  const code = outer.replace("UNTIL", JSON.stringify(until));
  const id = await killed(code, () => eventually(() => called().includes("read_wait wait")));
  folder.write("until", "");
  // The saved program goes on alone, as when its approval was decided on the page.
  expect(await continued(`${id}-2`)).toMatchObject({ ok: true, value: "done" });
  expect(await continued(id)).toMatchObject({ ok: true, value: "done" });
  const acts = called().filter((call) => call.startsWith("act"));
  expect(acts).toEqual(["act before", "act first", "act last", "act after"]);
});

test("a call that may have taken effect in a saved program is not made again", async () => {
  await save("inner", `await counting.wait({ name: "risky", until: input.until }); return "done";`);
  const until = join(folder.path, "until");
  const code = `try { return await programs.inner({ until: ${JSON.stringify(until)} }); } catch (error) { return error.message; }`;
  const id = await killed(code, () => eventually(() => called().includes("wait risky")));
  folder.write("until", "");
  expect(await continued(id)).toMatchObject({ ok: true, value: expect.stringContaining("CALL_OUTCOME_UNKNOWN") });
  expect(called()).toEqual(["wait risky"]);
});

test("rounds of kills at any moment", async () => {
  await save("inner", inner.replace("read_wait", "read").replace(", until: input.until", ""));
  const steps = 6;
  for (let round = 0; round < steps; round++) {
    const before = called().length;
    const code = outer.replace("{ until: UNTIL }", "");
    const id = await killed(code, () => Bun.sleep(150 + round * 60));
    const outcome = await continued(id);
    const acts = called()
      .slice(before)
      .filter((call) => call.startsWith("act"));
    // Each act at most once; all of them unless the outcome of one is unknown.
    expect(new Set(acts).size).toBe(acts.length);
    if (outcome.ok) expect(acts).toEqual(["act before", "act first", "act last", "act after"]);
    else expect(outcome.error.message).toContain("nobody knows whether");
  }
});
