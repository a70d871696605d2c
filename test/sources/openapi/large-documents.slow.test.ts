/**
 * Documents of real APIs, and one that is made to be large. Each operation becomes a tool with a name of its own and a signature that
 * TypeScript accepts. `bun scripts/sources.ts` says where the documents are expected.
 */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkDocument } from "../../../scripts/harnesses/requests/check-document.ts";
import { documentsFolder, realDocuments } from "../../../scripts/sources.ts";
import type { Api } from "../../../src/sources/openapi/api.ts";
import { signature } from "../../../src/tools/signature.ts";
import { root } from "../../support/claudikins.ts";
import { LongestTurn, maxBusyPingMs } from "../../support/longest-turn.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { documentOf, read } from "./read.ts";

// Twenty thousand operations take minutes on a machine that has other work.
setDefaultTimeout(400_000);

const folder = ownFolder({ isShared: true });

describe.each(realDocuments)("the document of %s", (name, file, count) => {
  const path = join(documentsFolder, file);
  // The documents are too large for the repository.
  const isAbsent = !existsSync(path);
  let api: Api;
  let longestMs = 0;

  beforeAll(async () => {
    if (isAbsent) return;
    using turn = new LongestTurn();
    api = await read(path, folder.path);
    longestMs = turn.ms;
  });

  test.skipIf(isAbsent)("has all operations, each with a name of its own, and no problem", () => {
    expect(api.operations.length).toBeGreaterThanOrEqual(count);
    expect(new Set(api.tools.map((tool) => tool.name)).size).toBe(api.tools.length);
    expect(api.tools.filter((tool) => !/^[a-z][a-z0-9_]{0,99}$/.test(tool.name))).toEqual([]);
    expect(api.problems).toEqual([]);
    expect(api.servers[0]).toMatch(/^https:\/\//);
  });

  test.skipIf(isAbsent)("blocks the thread of the protocol for no longer than a ping may take", () => {
    expect(longestMs).toBeLessThan(maxBusyPingMs);
  });

  test.skipIf(isAbsent)("has tools within the limits of a server's tools", () => {
    for (const { inputSchema, outputSchema = {}, description = "" } of api.tools) {
      expect(JSON.stringify(inputSchema).length).toBeLessThan(100_000);
      expect(JSON.stringify(outputSchema).length).toBeLessThan(100_000);
      expect(description.length).toBeLessThan(1_500);
    }
  });

  test.skipIf(isAbsent)("gives every path parameter an argument", () => {
    const wrong = api.operations.filter(({ path: template, parameters }) => {
      const named = Array.from(template.matchAll(/\{([^{}]+)\}/g), ([, each]) => each);
      return named.some((each) => !parameters.some((parameter) => parameter.in === "path" && parameter.name === each));
    });
    expect(wrong.map((each) => each.path)).toEqual([]);
  });

  // Calls of ten thousand operations take minutes: `bun run requests` makes them.
  test.skipIf(isAbsent || count > 10_000)("has requests that are as it says", async () => {
    const { faults } = await checkDocument(api, path);
    expect(faults).toEqual([]);
  });

  test.skipIf(isAbsent)("has signatures that compile under tsc --strict", async () => {
    const server = { name: "api", jsName: "api" };
    const lines = api.tools.map((tool) =>
      signature(server, { ...tool, jsName: tool.name } as never).replace(/^api\./, ""),
    );
    const types = join(folder.path, name);
    mkdirSync(types);
    writeFileSync(join(types, "api.d.ts"), `export interface Api {\n${lines.join(";\n")};\n}\n`);
    const tsc = Bun.spawn(
      [
        process.execPath,
        join(root, "node_modules/typescript/bin/tsc"),
        "--strict",
        "--noEmit",
        "--lib",
        "es2022",
        "--types",
        "",
        "api.d.ts",
      ],
      { cwd: types, stdout: "pipe", stderr: "pipe" },
    );
    expect(await new Response(tsc.stdout).text()).toBe("");
    expect(await tsc.exited).toBe(0);
  });
});

test("a hundred thousand operations are cut to a bound, and block nobody meanwhile", async () => {
  const schema = { type: "object", properties: { a: { type: "string" } } };
  const responses = { 200: { description: "OK", content: { "application/json": { schema } } } };
  const paths = Object.fromEntries(
    Array.from({ length: 100_000 }, (_, at) => [`/a${at}/{id}`, { get: { operationId: `getThing${at}`, responses } }]),
  );
  const path = join(folder.path, "large.json");
  writeFileSync(path, JSON.stringify(documentOf(paths)));
  using turn = new LongestTurn();
  const api = await read(path, folder.path);
  expect(turn.ms).toBeLessThan(maxBusyPingMs);
  expect(api.operations).toHaveLength(30_000);
  expect(api.problems).toEqual([
    'The document has more than 30000 operations. The others were left out: choose some with "include".',
  ]);
});
