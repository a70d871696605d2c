/** `fs` in code: Node's names, arguments, results and errors. */
import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Harness } from "./harness.ts";

setDefaultTimeout(60_000);

const harness = new Harness();
const { workspace, registry } = harness.mounts;
afterAll(() => harness[Symbol.dispose]());
beforeEach(() => {
  rmSync(workspace, { recursive: true, force: true });
  rmSync(registry, { recursive: true, force: true });
  mkdirSync(workspace);
  mkdirSync(registry);
  writeFileSync(join(registry, "index.ts"), "registry");
});

describe("code can use fs as agents write it:", () => {
  const programs: [string, string, unknown][] = [
    [
      "the global, with promises",
      `await fs.writeFile("./workspace/a", "é"); return fs.readFile("./workspace/a", "utf8")`,
      "é",
    ],
    [
      "the global, at once",
      `fs.writeFileSync("workspace/a", "x"); return fs.readFileSync("workspace/a", "utf-8")`,
      "x",
    ],
    [
      "the module of promises",
      `import fs from "node:fs/promises";\nawait fs.writeFile("./workspace/a", "x");\nreturn await fs.readFile("./workspace/a", { encoding: "utf8" })`,
      "x",
    ],
    [
      "names of it",
      `import { writeFile, stat } from "fs/promises";\nawait writeFile("./workspace/a", "12345");\nreturn (await stat("./workspace/a")).size`,
      5,
    ],
    [
      "the module",
      `import * as fs from "node:fs";\nfs.mkdirSync("./workspace/d/e", { recursive: true });\nreturn fs.existsSync("./workspace/d/e")`,
      true,
    ],
    [
      "names of the module",
      `import { readFileSync, existsSync, promises } from "fs";\nawait promises.writeFile("./workspace/a", "x");\nreturn [existsSync("./workspace/a"), existsSync("./workspace/b"), readFileSync("./workspace/a", "utf8")]`,
      [true, false, "x"],
    ],
    [
      "require",
      `const fs = require("fs"); const { readFile } = require("node:fs/promises"); fs.writeFileSync("./workspace/a", "x"); return readFile("./workspace/a", "utf8")`,
      "x",
    ],
    [
      "an import at run time",
      `const { writeFile, readFile } = await import("node:fs/promises"); await writeFile("./workspace/a", "x"); return readFile("./workspace/a", "utf8")`,
      "x",
    ],
    [
      "fs.promises",
      `await fs.promises.appendFile("./workspace/a", "1"); await fs.promises.appendFile("./workspace/a", "2"); return fs.promises.readFile("./workspace/a", "utf8")`,
      "12",
    ],
    [
      "a file that is not awaited",
      `fs.writeFile("./workspace/a", "x"); return fs.readFileSync("./workspace/a", "utf8")`,
      "x",
    ],
    [
      "no encoding: bytes that are text when asked",
      `fs.writeFileSync("./workspace/a", "é!"); const b = fs.readFileSync("./workspace/a"); return [b instanceof Uint8Array, b.length, b.toString(), \`\${b}\`, [...b]]`,
      [true, 3, "é!", "é!", [195, 169, 33]],
    ],
    [
      "JSON from bytes",
      `fs.writeFileSync("./workspace/a", JSON.stringify({ a: 1 })); return JSON.parse(await fs.readFile("./workspace/a"))`,
      { a: 1 },
    ],
    [
      "bytes",
      `const b = Uint8Array.from({ length: 20_000 }, (_, i) => i); await fs.writeFile("./workspace/a", b.subarray(1)); const r = await fs.readFile("./workspace/a"); return [r.length, r.every((x, i) => x === b[i + 1])]`,
      [19_999, true],
    ],
    [
      "an array buffer",
      `fs.writeFileSync("./workspace/a", new Uint16Array([0x4142]).buffer); return fs.readFileSync("./workspace/a", "latin1")`,
      "BA",
    ],
    [
      "encodings",
      `fs.writeFileSync("./workspace/a", "aGk=", "base64"); return ["utf8", "hex", "base64"].map((e) => fs.readFileSync("./workspace/a", e))`,
      ["hi", "6869", "aGk="],
    ],
    [
      "flags",
      `fs.writeFileSync("./workspace/a", "1"); fs.writeFileSync("./workspace/a", "2", { flag: "a" }); return fs.readFileSync("./workspace/a", "utf8")`,
      "12",
    ],
    [
      "a folder",
      `await fs.mkdir("./workspace/d/e", { recursive: true }); await fs.writeFile("./workspace/d/f", ""); return [await fs.readdir("./workspace"), await fs.readdir("./workspace", { recursive: true })]`,
      [["d"], ["d", "d/e", "d/f"]],
    ],
    [
      "entries with their types",
      `await fs.mkdir("./workspace/d"); await fs.writeFile("./workspace/d/f", ""); const list = await fs.readdir("./workspace/", { withFileTypes: true, recursive: true }); return list.map((e) => [e.name, e.parentPath, e.path, e.isFile(), e.isDirectory(), e.isSymbolicLink()])`,
      [
        ["d", "./workspace/", "./workspace/", false, true, false],
        ["f", "./workspace/d", "./workspace/d", true, false, false],
      ],
    ],
    [
      "stat",
      `fs.writeFileSync("./workspace/a", "abc"); const s = fs.statSync("./workspace/a"); return [s.isFile(), s.isDirectory(), s.size, s.mtime instanceof Date, Math.abs(Date.now() - s.mtimeMs) < 60_000, s.birthtime instanceof Date, s.mode.toString(8), s.uid]`,
      [true, false, 3, true, true, true, "100644", 0],
    ],
    ["stat without an exception", `return fs.statSync("./workspace/no", { throwIfNoEntry: false })`, undefined],
    [
      "rm, rename, copy, unlink",
      `fs.writeFileSync("./workspace/a", "x"); await fs.rename("./workspace/a", "./workspace/b"); await fs.copyFile("./workspace/b", "./workspace/c"); await fs.unlink("./workspace/b"); await fs.rm("./workspace/no", { force: true }); await fs.rm("./workspace/c"); return fs.readdirSync("./workspace")`,
      [],
    ],
    [
      "cp of a folder",
      `fs.mkdirSync("./workspace/d/e", { recursive: true }); fs.writeFileSync("./workspace/d/e/f", "x"); fs.writeFileSync("./workspace/d/no.log", ""); await fs.cp("./workspace/d", "./workspace/c", { recursive: true, filter: (from) => !from.endsWith(".log") }); return fs.readdirSync("./workspace/c", { recursive: true })`,
      ["e", "e/f"],
    ],
    [
      "the registry",
      `await fs.cp("./registry", "./workspace/copy", { recursive: true }); return [await fs.readdir("./registry"), await fs.readFile("./workspace/copy/index.ts", "utf8")]`,
      [["index.ts"], "registry"],
    ],
    [
      "access and exists",
      `return [await fs.exists("./workspace"), await fs.exists("./no"), await fs.access("./registry/index.ts"), await fs.access("./registry/index.ts", fs.constants.W_OK).catch((e) => e.code)]`,
      [true, false, null, "EROFS"],
    ],
    [
      "mkdtemp",
      `const d = await fs.mkdtemp("./workspace/t-"); return [d.startsWith("./workspace/t-"), fs.statSync(d).isDirectory()]`,
      [true, true],
    ],
    [
      "callbacks",
      `import fs from "node:fs"; const seen = []; await new Promise((resolve) => fs.writeFile("./workspace/a", "x", (e) => { seen.push(e); fs.readFile("./workspace/a", "utf8", (e, t) => { seen.push(e, t); fs.stat("./workspace/no", (e) => { seen.push(e.code); resolve() }) }) })); return seen`,
      [null, null, "x", "ENOENT"],
    ],
    [
      "many at once",
      `await Promise.all(Array.from({ length: 50 }, (_, i) => fs.writeFile(\`./workspace/f\${i}\`, String(i)))); return (await Promise.all((await fs.readdir("./workspace")).map((n) => fs.readFile("./workspace/" + n, "utf8")))).length`,
      50,
    ],
    [
      "a URL",
      `return fs.readFile({ protocol: "file:", href: "file:///registry/index.ts", pathname: "/registry/index.ts" }, "utf8")`,
      "registry",
    ],
  ];
  test.each(programs)("%s", async (_, code, expected) => {
    const outcome = await harness.run(code);
    expect(outcome).toMatchObject({ ok: true });
    expect(outcome.ok && outcome.value).toEqual(expected as never);
  });

  test("a callback that is not awaited still runs", async () => {
    await harness.value(
      `fs.readdir("./workspace", () => fs.readdir("./workspace", () => fs.writeFileSync("./workspace/late", "x")))`,
    );
    expect(readFileSync(join(workspace, "late"), "utf8")).toBe("x");
    expect(await harness.value("return [fs.readFile.name, fs.readFileSync.name, fs.promises.rm.name]")).toEqual([
      "readFile",
      "readFileSync",
      "rm",
    ]);
  });

  test("written files are on the host, and in the next execution", async () => {
    await harness.value(`await fs.writeFile("./workspace/report.md", "# é")`);
    expect(readFileSync(join(workspace, "report.md"), "utf8")).toBe("# é");
    expect(await harness.value(`return fs.readFile("./workspace/report.md", "utf8")`)).toBe("# é");
  });
});

describe("fs fails as in Node:", () => {
  const failures: [string, string, object][] = [
    [
      "a missing file",
      `\nawait fs.readFile("./workspace/no")`,
      { name: "Error", code: "ENOENT", message: "ENOENT: no such file or directory, open './workspace/no'", line: 2 },
    ],
    ["the same at once", `\nfs.readFileSync("./workspace/no")`, { code: "ENOENT", line: 2 }],
    [
      "a name without a mount",
      `await fs.writeFile("report.md", "x")`,
      { code: "ENOENT", hint: expect.stringContaining('"./workspace/report.md"') },
    ],
    [
      "an absolute path",
      `await fs.readFile("/etc/passwd", "utf8")`,
      { code: "ENOENT", hint: expect.stringContaining("./registry") },
    ],
    [
      "the registry",
      `await fs.writeFile("./registry/x", "x")`,
      { code: "EROFS", hint: expect.stringContaining("./workspace") },
    ],
    [
      "an object as data",
      `await fs.writeFile("./workspace/a", { a: 1 })`,
      { name: "TypeError", code: "ERR_INVALID_ARG_TYPE", hint: expect.stringContaining("JSON.stringify") },
    ],
    [
      "no path",
      `await fs.readFile(undefined)`,
      {
        name: "TypeError",
        code: "ERR_INVALID_ARG_TYPE",
        message: 'The "path" argument must be of type string or an instance of Buffer or URL. Received undefined',
      },
    ],
    [
      "a descriptor",
      `fs.readFileSync(0, "utf8")`,
      { code: "ERR_INVALID_ARG_TYPE", hint: expect.stringContaining("descriptors") },
    ],
    [
      "an unknown encoding",
      `fs.readFileSync("./registry/index.ts", "klingon")`,
      { code: "EINVAL", hint: expect.stringContaining("utf8") },
    ],
    [
      "a stream",
      `fs.createReadStream("./workspace/a")`,
      { code: "ENOSYS", hint: expect.stringContaining("fs.readFile") },
    ],
    [
      "a handle",
      `await fs.promises.open("./workspace/a")`,
      { code: "ENOSYS", hint: expect.stringContaining("fs.readFile") },
    ],
    [
      "a folder without recursive",
      `fs.mkdirSync("./workspace/d"); await fs.cp("./workspace/d", "./workspace/e")`,
      { code: "EISDIR", hint: expect.stringContaining("recursive") },
    ],
    [
      "a folder into itself",
      `fs.mkdirSync("./workspace/d"); await fs.cp("./workspace/d", "./workspace/d/e", { recursive: true })`,
      { code: "EINVAL" },
    ],
    ["a failure that is not awaited", `fs.readFile("./workspace/no");\nreturn 1`, { code: "ENOENT" }],
    ["a failure in a variable", `const text = fs.readFile("./workspace/no");\nreturn 1`, { code: "ENOENT" }],
    [
      "a callback that throws",
      `fs.readdir("./workspace", () => { throw new Error("in the callback") });\nreturn 1`,
      { message: "in the callback" },
    ],
  ];
  test.each(failures)("%s", async (_, code, error) => {
    const outcome = await harness.run(code);
    expect(outcome).toMatchObject({ ok: false, reason: "threw", error });
    expect(JSON.stringify(outcome)).not.toContain(workspace);
  });

  test("with Node's properties of an error", async () => {
    expect(
      await harness.value(`try { fs.renameSync("./workspace/a", "./workspace/b") } catch (e) {
        return [e instanceof Error, e.code, e.syscall, e.path, e.dest];
      }`),
    ).toEqual([true, "ENOENT", "rename", "./workspace/a", "./workspace/b"]);
  });

  test("at a link of another user", async () => {
    symlinkSync("/etc", join(workspace, "link"));
    expect(
      await harness.value(`return [
        fs.readdirSync("./workspace"), fs.lstatSync("./workspace/link").isSymbolicLink(), fs.existsSync("./workspace/link"),
        await fs.readFile("./workspace/link/passwd", "utf8").catch((e) => e.code),
        await fs.readFile("./workspace/link", "utf8").catch((e) => e.code),
      ]`),
    ).toEqual([["link"], true, false, "EACCES", "EACCES"]);
  });

  test("if a file is larger than the engine's memory, without affecting other executions", async () => {
    writeFileSync(join(workspace, "large"), Buffer.alloc(40 * 1_048_576, "x"));
    expect(await harness.run(`return (await fs.readFile("./workspace/large", "utf8")).length`)).toMatchObject({
      ok: false,
      reason: "memory",
    });
    expect(await harness.value("return fs.existsSync('./workspace/large')")).toBe(true);
  });
});
