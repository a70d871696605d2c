/** The registry on disk: written, removed and untouched files, and the errors of a damaged one. */
import { beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RegistryServer } from "../../src/tools/model.ts";
import { generatedMark } from "../../src/tools/registry/generated-mark.ts";
import {
  makeExecutable,
  notExecutable,
  readIndex,
  removeServer,
  writeIndex,
  writeServer,
} from "../../src/tools/registry/store.ts";
import { ownFolder } from "../support/own-folder.ts";

const folder = ownFolder();
let registry: string;
beforeEach(() => {
  registry = join(folder.path, "registry");
});

/** A server with tools of these names; `version` is in their descriptions. */
function server(name: string, tools: string[], { version = 1, category = "other" } = {}): RegistryServer {
  return {
    name,
    jsName: name,
    category,
    description: "",
    folder: `${category}/${name}`,
    fingerprint: "x",
    tools: tools.map((tool) => ({ name: tool, jsName: tool, description: `${tool} ${version}`, inputSchema: {} })),
  };
}

const files = () =>
  (readdirSync(folder.path, { recursive: true }) as string[]).filter((name) => /\.\w+$/.test(name)).sort();

/** Paths of files of the server `a`. */
const declarations = ["server-global.d", "server-module.d"];
const inA = (...names: string[]) => names.map((name) => `registry/other/a/${name}.ts`).sort();

/** Sets the time of every file to long ago, so that written files can be told apart. */
function age(): void {
  for (const name of files()) utimesSync(join(folder.path, name), 1_000, 1_000);
}
const written = () => files().filter((name) => statSync(join(folder.path, name)).mtimeMs !== 1_000_000);

describe("writeServer", () => {
  test("writes files, and does not write unchanged ones again", () => {
    const first = server("a", ["one", "two"]);
    expect(writeServer(registry, first, undefined)).toEqual({ written: 7, removed: 0, kept: [] });
    expect(files()).toEqual(inA("client", "example", "index", "one", "two", ...declarations));
    age();
    expect(writeServer(registry, structuredClone(first), first)).toEqual({
      written: 0,
      removed: 0,
      kept: [],
    });
    expect(written()).toEqual([]);
  });

  test("writes changed files, and removes others", () => {
    const first = server("a", ["one", "two"]);
    writeServer(registry, first, undefined);
    age();
    const second = server("a", ["one", "three"]);
    expect(writeServer(registry, second, first)).toEqual({ written: 5, removed: 1, kept: [] });
    expect(written()).toEqual(inA("client", "index", "three", ...declarations));
    expect(files()).toEqual(inA("client", "example", "index", "one", "three", ...declarations));
    expect(writeServer(registry, server("a", ["one", "three"], { version: 2 }), second)).toMatchObject({ written: 3 });
  });

  test("leaves no incomplete or temporary files", () => {
    writeServer(registry, server("a", ["one"]), undefined);
    expect(files()).toEqual(inA("client", "example", "index", "one", ...declarations));
  });

  test.skipIf(process.platform === "win32")("makes programs executable, but not modules", () => {
    writeServer(registry, server("a", ["one"]), undefined);
    const executable = readdirSync(join(registry, "other", "a")).filter(
      (name) => (statSync(join(registry, "other", "a", name)).mode & 0o100) !== 0,
    );
    expect(executable.sort()).toEqual(["example.ts", "one.ts"]);
  });

  test.skipIf(process.platform === "win32")(
    "lists programs that have lost their executable bit, and restores it",
    () => {
      const all = [server("a", ["one", "two"]), server("b", ["one"])];
      for (const each of all) writeServer(registry, each, undefined);
      expect(notExecutable(registry, all)).toEqual([]);
      const [one, client] = ["one", "client"].map((name) => join(registry, "other", "a", `${name}.ts`)) as [
        string,
        string,
      ];
      chmodSync(one, 0o640);
      chmodSync(client, 0o640);
      expect(notExecutable(registry, all)).toEqual([one]);
      makeExecutable(one);
      expect(statSync(one).mode & 0o777).toBe(0o750);
      expect(notExecutable(registry, all)).toEqual([]);
    },
  );

  test("moves the folder to another category", () => {
    const before = server("a", ["one"]);
    writeServer(registry, before, undefined);
    const after = server("a", ["one"], { category: "dev" });
    expect(writeServer(registry, after, before)).toEqual({ written: 6, removed: 6, kept: [] });
    expect(files()).toEqual(
      inA("client", "example", "index", "one", ...declarations).map((path) => path.replace("other", "dev")),
    );
    expect(readdirSync(registry)).toEqual(["dev"]);
  });

  test("keeps the user's own files", () => {
    const own = folder.write("registry/other/a/mine.ts", "export const mine = 1;\n");
    const notes = folder.write("registry/other/a/notes.md", generatedMark);
    const inTheWay = folder.write("registry/other/a/one.ts", "// my own recipe\n");
    const before = server("a", ["one", "two"]);
    expect(writeServer(registry, before, undefined)).toEqual({
      written: 6,
      removed: 0,
      kept: [inTheWay],
    });
    expect(writeServer(registry, server("a", ["three"]), before)).toEqual({
      written: 6,
      removed: 1,
      kept: [],
    });
    expect(removeServer(registry, server("a", ["three"]))).toBe(6);
    expect(files()).toEqual([own, notes, inTheWay].map((path) => path.slice(folder.path.length + 1)).sort());
    expect(readFileSync(inTheWay, "utf8")).toBe("// my own recipe\n");
  });

  test("writes separate files for names that differ only in case, even one after the other", () => {
    const before = server("a", ["Get"]);
    writeServer(registry, before, undefined);
    const after = server("a", ["get"]);
    writeServer(registry, after, before);
    expect(files()).toEqual(inA("client", "example", "get", "index", ...declarations));
    writeServer(registry, server("a", ["GET", "Get", "get"]), after);
    expect(
      files()
        .map((name) => name.toLowerCase())
        .sort(),
    ).toEqual(inA("client", "example", "get", "get_2", "get_3", "index", ...declarations));
  });
});

describe("removeServer", () => {
  test("removes empty folders, and nothing else", () => {
    writeServer(registry, server("a", ["one"]), undefined);
    writeServer(registry, server("b", ["one"]), undefined);
    expect(removeServer(registry, server("a", ["one"]))).toBe(6);
    expect(readdirSync(join(registry, "other"))).toEqual(["b"]);
    removeServer(registry, server("b", ["one"]));
    expect(readdirSync(registry)).toEqual([]);
  });

  test("does nothing if the folder is already gone", () => {
    expect(removeServer(registry, server("a", ["one"]))).toBe(0);
  });
});

describe("the index", () => {
  test("is read as it was written, sorted by name", () => {
    expect(readIndex(registry)).toBeUndefined();
    const [a, b, proto] = [server("a", ["one"]), server("b", []), server("__proto__", ["constructor"])];
    writeIndex(registry, [b, proto, a]);
    expect(readIndex(registry)).toEqual({ version: 1, servers: [proto, a, b] });
  });

  test("is not written again if it is unchanged", () => {
    writeIndex(registry, [server("a", ["one"]), server("b", [])]);
    age();
    writeIndex(registry, [server("b", []), server("a", ["one"])]);
    expect(written()).toEqual([]);
    writeIndex(registry, [server("a", ["one", "two"]), server("b", [])]);
    expect(written()).toEqual(["registry/index.json"]);
  });

  const good = server("a", ["one"]);
  test.each([
    ["not JSON", "{"],
    ["empty", ""],
    ["null", "null"],
    ["a list", "[]"],
    ["another version", JSON.stringify({ version: 0, servers: [] })],
    ["no servers", JSON.stringify({ version: 1 })],
    ["an invalid server", JSON.stringify({ version: 1, servers: [null] })],
    ["a server without tools", JSON.stringify({ version: 1, servers: [{ ...good, tools: undefined }] })],
    ["a tool without a schema", JSON.stringify({ version: 1, servers: [{ ...good, tools: [{ name: "x" }] }] })],
    ["a folder outside", JSON.stringify({ version: 1, servers: [{ ...good, folder: "../../etc" }] })],
    ["a folder at the root", JSON.stringify({ version: 1, servers: [{ ...good, folder: "/etc" }] })],
  ])("is refused if it is damaged: %s", (_, text) => {
    const path = folder.write("registry/index.json", text);
    expect(() => readIndex(registry)).toThrow(
      expect.objectContaining({
        code: "REGISTRY_INVALID",
        exitCode: 2,
        message: `${path} is damaged or from another version`,
        hint: "Regenerate it: claudikins gen",
      }),
    );
  });
});

describe("a failed write is an error", () => {
  /** The error without the system's words, which differ between systems. */
  const refusal = (path: string) =>
    expect.objectContaining({
      code: "FILE_NOT_WRITABLE",
      exitCode: 2,
      message: expect.stringContaining(`Cannot write ${path}: `),
    });

  test("if a file is in the place of the registry", () => {
    writeFileSync(registry, "");
    expect(() => writeServer(registry, server("a", ["one"]), undefined)).toThrow(
      refusal(join(registry, "other/a/index.ts")),
    );
    expect(() => writeIndex(registry, [])).toThrow(refusal(join(registry, "index.json")));
  });

  test("if a folder is in the place of a file", () => {
    mkdirSync(join(registry, "other/a/one.ts"), { recursive: true });
    expect(() => writeServer(registry, server("a", ["one"]), undefined)).toThrow(
      refusal(join(registry, "other/a/one.ts")),
    );
    expect(readdirSync(join(registry, "other", "a")).sort()).toEqual(["client.ts", "example.ts", "index.ts", "one.ts"]);
  });
});
