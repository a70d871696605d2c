/** Generated files of real servers compile in strict mode, and reveal wrong arguments. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { execute } from "../../../src/programs/execute.ts";
import { generate } from "../../../src/tools/generate.ts";
import { everything, filesystem, memory, sequentialThinking } from "../../support/servers.ts";
import { errorsInFiles } from "../../support/typescript.ts";
import { type Project, project } from "./project.ts";

// Real servers and a real compiler.
setDefaultTimeout(60_000);

/** With the categories of the catalog. */
const folders = ["testing/everything", "files/files", "knowledge/memory", "reasoning/thinking"];

let folder: Project;
beforeAll(async () => {
  folder = project();
  mkdirSync(join(folder.path, "data"));
  folder.configure({
    everything: everything(),
    files: filesystem(join(folder.path, "data")),
    memory: memory(join(folder.path, "memory.json")),
    thinking: sequentialThinking(),
  });
  await using app = await folder.open();
  const { servers } = await generate(app);
  expect(servers.filter(({ problem, tools }) => problem || tools === 0)).toEqual([]);
  // Some results are observed, and get a type from that.
  const source = "await everything['get-sum']({ a: 1, b: 2 }); await files.list_allowed_directories(); 1";
  expect(await execute({ source, limits: { timeoutMs: 60_000 } }, app)).toMatchObject({ ok: true });
});
afterAll(() => folder[Symbol.dispose]());

const generated = () =>
  (readdirSync(folder.registry, { recursive: true }) as string[])
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder.registry, name));

test("every generated file compiles in strict mode", () => {
  const files = generated();
  for (const name of folders) {
    expect(files.filter((file) => file.startsWith(join(folder.registry, name))).length).toBeGreaterThan(3);
  }
  expect(errorsInFiles(files, folder.path)).toEqual([]);
});

test("an observed result has a type, and its values are not written anywhere", async () => {
  const text = readFileSync(join(folder.registry, "testing", "everything", "get_sum.ts"), "utf8");
  expect(text).toContain("/** observed: the shape of results so far */\nexport type GetSumResult = string;");
  for (const file of generated()) expect(readFileSync(file, "utf8")).not.toContain("The sum of 1 and 2");
});

test("a program with correct arguments compiles, and one with wrong arguments does not", () => {
  const at = (name: string) => JSON.stringify(`./.claudikins/registry/${name}`);
  const program = (calls: string) =>
    folder.write(
      "program.mts",
      `import { get_sum } from ${at("testing/everything/get_sum.ts")};
import { create_entities, client, type CreateEntitiesArguments } from ${at("knowledge/memory/index.ts")};
import { client as files } from ${at("files/files/client.ts")};
${calls}
`,
    );
  const entities = '[{ name: "a", entityType: "b", observations: ["c"] }]';
  const right = program(`const args: CreateEntitiesArguments = { entities: ${entities} };
const made = await create_entities(args);
console.log(made.entities[0]?.observations.length, await client.read_graph(), (await get_sum({ a: 1, b: 2 })).length);
console.log((await files.read_text_file({ path: "a", head: 1 })).content.length);`);
  expect(errorsInFiles([right], folder.path)).toEqual([]);
  const wrong = program(`await get_sum({ a: "1", b: 2 });
await create_entities({ entities: [{ name: "a" }] } satisfies CreateEntitiesArguments);
(await client.create_entities({ entities: ${entities} })).entity;
await files.read_text_file({ file: "a" });`);
  const lines = errorsInFiles([wrong], folder.path).flatMap((line) => /^program\.mts\((\d+),/.exec(line)?.[1] ?? []);
  expect([...new Set(lines)]).toEqual(["4", "5", "6", "7"]);
});
