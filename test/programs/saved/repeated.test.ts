/** An agent that runs nearly the same program again and again is asked once whether to keep it, and a search names kept programs first. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { App } from "../../../src/app/app.ts";
import { callExecuteCode } from "../../../src/serve/tools/execute-code.ts";
import { search } from "../../../src/tools/search/search.ts";
import { cli } from "../../cli/in-memory.ts";
import { fixture } from "../../support/servers.ts";
import { type Project, project } from "../../tools/generation/project.ts";

setDefaultTimeout(60_000);

let folder: Project;
beforeEach(() => {
  folder = project();
  folder.configure({ counting: fixture("counting", join(folder.path, "counts")) });
});
afterEach(() => folder[Symbol.dispose]());

/** Whether the answer asks to keep the program. */
async function asks(app: App, code: string): Promise<boolean> {
  const { content } = await callExecuteCode({ code }, app, new AbortController().signal);
  return content.some((block) => block.type === "text" && block.text.includes("Keep it? await programs.save("));
}

const program = (name: string, count: number) => `// It's about ${name}, and says how often it was read before
const names = [${JSON.stringify(name)}, 'other "${name}"', \`third \${${count}}\`];
const results = [];
for (const each of names) results.push(await counting.read({ name: each }));
return { total: results.length * ${count}, last: results.at(-1) };`;

test("the third run of a program that differs only in its values asks, once", async () => {
  await using app = await folder.open();
  expect(await asks(app, program("a", 1))).toBe(false);
  expect(await asks(app, `${program("a", 1)} // more`)).toBe(false);
  expect(await asks(app, "return await counting.read({})")).toBe(false);
  expect(await asks(app, program("b c", 22).replaceAll("\n", "\n  "))).toBe(true);
  for (let run = 0; run < 4; run++) expect(await asks(app, program("c", run))).toBe(false);
});

test("short programs, failed ones, and those that call nothing are not counted", async () => {
  await using app = await folder.open();
  const long = `const text = ${JSON.stringify("x".repeat(300))};`;
  for (const code of [
    "return await counting.read({ name: 'x' })",
    `${long} return text.length`,
    `${long} await counting.read({}); throw new Error("no")`,
  ]) {
    for (let run = 0; run < 4; run++) expect([code, await asks(app, code)]).toEqual([code, false]);
  }
});

test("a search names a kept program before the tools that it calls", async () => {
  folder.write("read.ts", "// Reads counting names\nreturn await counting.read({ name: input.name });");
  const saved = await cli(["programs", "save", "read.ts", "--name", "read-names", "name=x"], { cwd: folder.path });
  expect(saved.exitCode).toBe(0);
  await using app = await folder.open();
  await app.catalog.listMissing(AbortSignal.timeout(10_000));
  const found = search("read counting", 5, app.catalog).tools;
  const ids = found.map(({ id }) => id);
  // It is first although it does not match best.
  expect(found[0]!.score).toBeLessThan(found[1]!.score);
  expect(ids[0]).toBe("programs.read-names");
  expect(ids).toContain("counting.read");
  expect(search("act", 5, app.catalog).tools[0]?.id).toBe("counting.act");
});
