/** The declared type of an answer of `model.ask` follows from its schema: right uses compile, and wrong ones do not. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { cli } from "../cli/in-memory.ts";
import { errorsInPrograms } from "../support/typescript.ts";
import { project } from "../tools/generation/project.ts";

setDefaultTimeout(60_000);

test("answers have the types of their schemas", async () => {
  using folder = project();
  folder.write("claudikins.json", { mcpServers: {}, askModel: true });
  expect((await cli(["gen"], { cwd: folder.path })).exitCode).toBe(0);
  const registry = join(folder.path, ".claudikins", "registry");
  const server = join(registry, "models", "model", "server-global.d.ts");
  expect(readdirSync(join(registry, "models", "model"))).toContain("server-global.d.ts");
  const issue = `{ type: "object", properties: { kind: { enum: ["bug", "wish"] }, tags: { type: "array", items: { type: "string" } }, size: { type: ["integer", "null"] } }, required: ["kind", "tags"] }`;
  const errors = (body: string) => {
    const file = folder.write("program.ts", `/// <reference path="${server}" />\n${body}\nexport {};\n`);
    return errorsInPrograms([file], folder.path, ["--strict", "--target", "esnext", "--lib", "esnext", "--types", ""]);
  };
  expect(
    errors(`const { kind, tags, size } = await model.ask("Classify", { schema: ${issue}, data: { a: 1 } });
const one: "bug" | "wish" = kind;
const first: string | undefined = tags[0];
const count: number | null | undefined = size;
const text: string = await model.ask("Say it");
const list: number[] = await model.ask({ prompt: "List", schema: { type: "array", items: { type: "number" } } });
const either: string | boolean = await model.ask("Either", { schema: { anyOf: [{ type: "string" }, { type: "boolean" }] } });
const fixed: 1 = await model.ask("One", { schema: { const: 1 } });
const open = await model.ask("Any", { schema: { $ref: "#/$defs/x", $defs: {} } });
open.anything;`),
  ).toEqual([]);
  for (const wrong of [
    `const { kind } = await model.ask("Classify", { schema: ${issue} }); const other: "feature" = kind;`,
    `const { kind } = await model.ask("Classify", { schema: ${issue} }); if (kind === "feature") kind;`,
    `const { size } = await model.ask("Classify", { schema: ${issue} }); const count: number = size;`,
    `const { name } = await model.ask("Classify", { schema: ${issue} });`,
    `const count: number = await model.ask("Say it");`,
    `await model.ask("Say it", { schem: {} });`,
    "await model.ask();",
  ]) {
    const found = errors(wrong).filter((line) => line.startsWith("program.ts"));
    expect([wrong, found.length]).toEqual([wrong, 1]);
  }
});
