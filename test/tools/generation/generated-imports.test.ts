/** Generated files as modules in the sandbox: their functions become calls of the code that imports them. */

import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { App } from "../../../src/app/app.ts";
import { execute } from "../../../src/programs/execute.ts";
import { fixture } from "../../support/servers.ts";
import { type Project, project } from "./project.ts";

setDefaultTimeout(60_000);

let folder: Project;
let app: App;
beforeEach(async () => {
  folder = project();
  const seen = { ...fixture("seen", folder.path), category: "test" };
  folder.configure({ seen, "odd name": { ...seen, description: "another one" } });
  app = await folder.open();
  await Promise.all(["seen", "odd name"].map((name) => app.catalog.list(name)));
});
afterEach(async () => {
  await app[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function run(source: string) {
  const outcome = await execute({ source }, app);
  const { calls } = outcome.receipt;
  return outcome.ok ? { value: outcome.value, calls } : { error: outcome.error, calls };
}

test("a generated file can be imported with all its exports", async () => {
  expect(
    await run(`import { wait, tool, example } from "./registry/test/seen/wait.ts";
      return [await wait({ ms: 1 }), tool.server, tool.name, example];`),
  ).toEqual({ value: ["waited", "seen", "wait", expect.stringContaining("await seen.wait(")], calls: 1 });
});

test("a generated file can be imported with any form of its path", async () => {
  for (const specifier of [
    "./registry/test/seen/structured",
    "/registry/test/seen/structured.ts",
    "@/registry/test/seen/structured.js",
  ]) {
    expect(await run(`const { structured } = await import("${specifier}"); return structured({});`)).toEqual({
      value: { fine: true },
      calls: 1,
    });
  }
  expect(await run('import * as all from "./registry/test/seen"; return all.server.name')).toMatchObject({
    value: "seen",
  });
  expect(await run('import index from "./registry/index.json"; return index.servers.length')).toMatchObject({
    value: 2,
  });
});

test("a generated file can be imported by the path that a program on disk uses, relative or absolute", async () => {
  const { registry } = app.config.folders;
  for (const base of ["./.claudikins/registry", "../../.claudikins/registry", registry, pathToFileURL(registry).href]) {
    const source = `import { wait } from "${base}/test/seen/index.ts";
      import { structured } from "${base}/test/seen/structured.ts";
      console.log(JSON.stringify([await wait({ ms: 1 }), await structured({})]));`;
    const outcome = await execute({ source }, app);
    expect([base, outcome.ok, outcome.logs]).toEqual([
      base,
      true,
      [{ level: "log", text: '["waited",{"fine":true}]' }],
    ]);
  }
  // The same text as a separate program. Its calls need a daemon, and are tested elsewhere.
  const file = folder.write(
    "program.ts",
    'import { tool } from "./.claudikins/registry/test/seen/wait.ts";\nconsole.log(tool.name);',
  );
  expect(Bun.spawnSync([process.execPath, file]).stdout.toString()).toBe("wait\n");
  expect(await run(await Bun.file(file).text())).toMatchObject({ calls: 0 });
  for (const wrong of ["./lib/test/seen/wait.ts", "/etc/passwd", `${registry}/../../claudikins.json.ts`]) {
    const { error } = await run(`import { x } from "${wrong}"; return x`);
    expect([wrong, error?.code]).toEqual([wrong, "MODULE_NOT_FOUND"]);
    expect(error?.hint ?? "").not.toContain(folder.path);
  }
});

test("a generated file can be imported from a registry that the config names", async () => {
  const own = project();
  try {
    own.write("claudikins.json", {
      registry: "src/tools",
      mcpServers: { seen: { ...fixture("seen", own.path), category: "test" } },
    });
    await using other = await own.open();
    await other.catalog.list("seen");
    for (const path of ["./src/tools", "./tools", join(own.path, "src", "tools")]) {
      const source = `import { wait } from "${path}/test/seen/wait.ts"; return wait({ ms: 1 });`;
      expect(await execute({ source }, other)).toMatchObject({ value: "waited" });
    }
  } finally {
    own[Symbol.dispose]();
  }
});

test("a generated file can be imported from a server whose name is not an identifier", async () => {
  expect(
    await run('import { structured } from "./registry/test/odd_name/structured.ts"; return structured({});'),
  ).toEqual({ value: { fine: true }, calls: 1 });
});

test("a generated file can be imported by a skill", async () => {
  await run(`await fs.mkdir("./workspace/skills", { recursive: true });
    await fs.writeFile("./workspace/skills/near.ts", 'export { wait } from "../../registry/test/seen/wait.ts";');
    await fs.writeFile("./workspace/skills/same.ts", 'export { wait } from "./registry/test/seen/wait.ts";');`);
  for (const skill of ["near", "same"]) {
    expect(await run(`import { wait } from "./skills/${skill}"; return wait({ ms: 1 });`)).toEqual({
      value: "waited",
      calls: 1,
    });
  }
});

test("a failed tool throws its error", async () => {
  expect(await run('import { refuse } from "./registry/test/seen/refuse.ts"; return refuse({});')).toMatchObject({
    error: { name: "ToolError", message: "not today", code: "TOOL_FAILED" },
    calls: 1,
  });
});

test("a missing file is named in the error", async () => {
  expect(await run('import { nope } from "./registry/test/seen/nope.ts";')).toMatchObject({
    error: {
      code: "MODULE_NOT_FOUND",
      message: "There is no generated file ./registry/test/seen/nope.ts: no file ./registry/test/seen/nope.ts",
      hint: expect.stringContaining("./registry/<category>/<server>/<tool>.ts"),
    },
  });
  expect(await run('import { nope } from "./registry/test/seen/wait.ts";')).toMatchObject({
    error: { code: "EXPORT_NOT_FOUND", hint: "It has: tool, example, notes, wait" },
  });
  expect(await run('require("./registry/test/seen/wait.ts")')).toMatchObject({
    error: { message: "A generated file cannot be loaded with require" },
  });
});
