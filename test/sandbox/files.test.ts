/** The operations on files, and their errors. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { Files } from "../../src/sandbox/host/files.ts";
import { bothWays, GuestFiles } from "./guest-files.ts";

setDefaultTimeout(60_000);

describe.each(bothWays)("with byDescriptor=%p", (byDescriptor) => {
  let files: GuestFiles;
  beforeEach(() => {
    files = new GuestFiles({ byDescriptor });
    files.around.write("registry/index.ts", "export const registry = 1;");
    files.around.write("registry/deep/tool.ts", "tool");
  });
  afterEach(() => files[Symbol.dispose]());

  test("the workspace can be read before it exists, and is created by the first write", () => {
    expect(files.value("readdir", "./workspace")).toEqual([]);
    expect(files.value("stat", "./workspace")).toMatchObject({ kind: "folder" });
    expect(files.code("access", "./workspace", { write: true })).toBe("");
    expect(files.code("readFile", "./workspace/a.txt")).toBe("ENOENT");
    expect(files.code("readdir", "./workspace/a")).toBe("ENOENT");
    expect(existsSync(files.mounts.workspace)).toBe(false);
    files.write("./workspace/a.txt", "text");
    expect(files.read("./workspace/a.txt")).toBe("text");
    rmSync(files.mounts.workspace, { recursive: true });
    expect(files.value("mkdir", "./workspace", { recursive: true })).toBeUndefined();
    expect(existsSync(files.mounts.workspace)).toBe(true);
  });

  test.each(["./workspace/a b.txt", "workspace/a b.txt", "/workspace/a b.txt", ".//workspace/./x/..//a b.txt"])(
    "%s names the file in the workspace",
    (path) => {
      files.around.write("workspace/a b.txt", "there");
      expect(files.read(path)).toBe("there");
      expect(files.value("realpath", path)).toBe("/workspace/a b.txt");
    },
  );

  test("text and bytes in every encoding are read as they were written", () => {
    const bytes = Buffer.from([0, 1, 127, 128, 195, 169, 254, 255]);
    for (const encoding of ["latin1", "base64", "base64url", "hex", "utf16le"] as const) {
      files.value("writeFile", "./workspace/b", { data: bytes.toString(encoding), encoding, flag: "w" });
      expect(files.value("readFile", "./workspace/b", { encoding })).toBe(bytes.toString(encoding));
    }
    files.write("./workspace/t", "\ufeffé😀\0\n");
    expect(files.read("./workspace/t")).toBe("\ufeffé😀\0\n");
    files.write("./workspace/empty", "");
    expect(files.read("./workspace/empty")).toBe("");
    expect(files.code("readFile", "./workspace/t", { encoding: "klingon" })).toBe("EINVAL");
  });

  test("writing supports Node's flags", () => {
    files.write("./workspace/a", "1");
    files.write("./workspace/a", "2", "a");
    files.write("./workspace/a", "3", "a+");
    expect(files.read("./workspace/a")).toBe("123");
    for (const flag of ["wx", "xw", "wx+", "ax", "xa"])
      expect(files.code("writeFile", "./workspace/a", { data: "no", flag })).toBe("EEXIST");
    files.write("./workspace/a", "4");
    files.write("./workspace/b", "new", "wx");
    files.write("./workspace/c", "new", "a");
    expect(["a", "b", "c"].map((name) => files.read(`./workspace/${name}`))).toEqual(["4", "new", "new"]);
    for (const flag of ["r", "r+", "", "w w", "xx"])
      expect(files.code("writeFile", "./workspace/a", { data: "no", flag })).toBe("EINVAL");
  });

  test("a replaced file keeps its permissions", () => {
    const path = files.around.write("workspace/run.sh", "old");
    chmodSync(path, 0o755);
    files.write("./workspace/run.sh", "new");
    expect(statSync(path).mode & 0o777).toBe(0o755);
  });

  test("folders are created, listed in order and removed", () => {
    expect(files.value("mkdir", "./workspace/a/b/c", { recursive: true })).toBe("/workspace/a");
    expect(files.value("mkdir", "./workspace/a/b/d", { recursive: true })).toBe("/workspace/a/b/d");
    expect(files.value("mkdir", "./workspace/a/b/d", { recursive: true })).toBeUndefined();
    expect(files.value("mkdir", "./workspace/z")).toBeUndefined();
    files.write("./workspace/a/x.txt", "x");
    expect(files.names("./workspace")).toEqual(["a", "a/b", "a/b/c", "a/b/d", "a/x.txt", "z"]);
    expect(files.value("readdir", "./workspace/a")).toEqual([
      { name: "b", parent: "", kind: "folder" },
      { name: "x.txt", parent: "", kind: "file" },
    ]);
    expect(files.names(".")).toEqual([
      "registry",
      "registry/deep",
      "registry/deep/tool.ts",
      "registry/index.ts",
      "workspace",
      ...files.names("./workspace").map((name) => `workspace/${name}`),
    ]);
    expect(files.code("mkdir", "./workspace/z")).toBe("EEXIST");
    expect(files.code("mkdir", "./workspace/no/z")).toBe("ENOENT");
    expect(files.code("mkdir", "./workspace/a/x.txt/z", { recursive: true })).toBe("ENOTDIR");
    expect(files.code("mkdir", "./workspace/a/x.txt", { recursive: true })).toBe("EEXIST");
    expect(files.code("rmdir", "./workspace/a")).toBe("ENOTEMPTY");
    expect(files.code("rmdir", "./workspace/a/x.txt")).toBe("ENOTDIR");
    expect(files.code("rm", "./workspace/a")).toBe("EISDIR");
    expect(files.code("unlink", "./workspace/a")).toBe("EISDIR");
    expect(files.code("rm", "./workspace/no", { recursive: true })).toBe("ENOENT");
    files.value("rm", "./workspace/no", { force: true });
    files.value("rmdir", "./workspace/z");
    files.value("unlink", "./workspace/a/x.txt");
    files.value("rm", "./workspace/a", { recursive: true });
    expect(readdirSync(files.mounts.workspace)).toEqual([]);
  });

  test("files are moved and copied, also from the registry, but never into it", () => {
    files.write("./workspace/a", "a");
    files.write("./workspace/b", "b");
    files.value("rename", "./workspace/a", { dest: "./workspace/b" });
    expect(files.names("./workspace")).toEqual(["b"]);
    expect(files.read("./workspace/b")).toBe("a");
    files.value("copyFile", "./registry/index.ts", { dest: "./workspace/copy.ts" });
    expect(files.read("./workspace/copy.ts")).toBe("export const registry = 1;");
    expect(files.code("copyFile", "./workspace/b", { dest: "./workspace/copy.ts", exclusive: true })).toBe("EEXIST");
    files.value("copyFile", "./workspace/b", { dest: "./workspace/c", exclusive: true });
    files.value("mkdir", "./workspace/full/inner", { recursive: true });
    files.value("mkdir", "./workspace/other");
    files.value("rename", "./workspace/full", { dest: "./workspace/moved" });
    expect(files.names("./workspace/moved")).toEqual(["inner"]);
    expect(files.code("rename", "./workspace/other", { dest: "./workspace/moved" })).toBe("ENOTEMPTY");
    expect(files.code("rename", "./workspace/moved", { dest: "./workspace/moved/inner/x" })).toBe("EINVAL");
    expect(files.code("rename", "./workspace/b", { dest: "./workspace/moved" })).toBe("EISDIR");
    expect(files.code("rename", "./workspace/moved", { dest: "./workspace/b" })).toBe("ENOTDIR");
    expect(files.code("rename", "./workspace/no", { dest: "./workspace/b" })).toBe("ENOENT");
    expect(files.code("copyFile", "./workspace/moved", { dest: "./workspace/x" })).toBe("EISDIR");
    expect(files.code("copyFile", "./workspace/b", { dest: "./workspace/moved" })).toBe("EISDIR");
  });

  test("stat returns what Node's does, and nothing of the host", () => {
    const path = files.around.write("workspace/a.txt", "12345");
    utimesSync(path, 1_000, 2_000);
    const stats = files.value("stat", "./workspace/a.txt") as object;
    expect(stats).toMatchObject({ kind: "file", size: 5, nlink: 1, atimeMs: 1e6, mtimeMs: 2e6 });
    expect(Object.keys(stats).sort()).toEqual(
      ["atimeMs", "birthtimeMs", "ctimeMs", "kind", "mtimeMs", "nlink", "size"].sort(),
    );
    expect(files.code("stat", "./workspace/no")).toBe("ENOENT");
    expect(files.code("stat", "./workspace/a.txt/no")).toBe("ENOTDIR");
    expect(files.code("stat", "./workspace/a.txt/")).toBe("ENOTDIR");
    expect(files.value("lstat", "/")).toMatchObject({ kind: "folder" });
  });

  test("mkdtemp creates folders with unique names", () => {
    const made = [1, 2, 3].map(() => String(files.value("mkdtemp", "./workspace/tmp-")));
    for (const path of made) expect(path).toMatch(/^\.\/workspace\/tmp-[0-9a-f]{6}$/);
    expect(new Set(made).size).toBe(3);
    expect(files.names("./workspace").length).toBe(3);
    expect(files.code("mkdtemp", "./workspace/no/tmp-")).toBe("ENOENT");
  });

  test.each([
    ["readFile", {}, "EISDIR"],
    ["writeFile", { data: "", flag: "w" }, "EISDIR"],
    ["writeFile", { data: "", flag: "a" }, "EISDIR"],
    ["rm", { recursive: true, force: true }, "EBUSY"],
    ["rmdir", {}, "EBUSY"],
    ["unlink", {}, "EBUSY"],
    ["rename", { dest: "./workspace/x" }, "EBUSY"],
    ["mkdir", {}, "EEXIST"],
  ])("the workspace itself and its parents cannot be changed by %s", (operation, more, code) => {
    files.write("./workspace/keep", "kept");
    for (const path of ["./workspace", "workspace/", "/", ".", "./workspace/.."])
      expect([path, files.code(operation, path, more)]).toEqual([path, code]);
    expect(files.read("./workspace/keep")).toBe("kept");
  });

  test.each([
    ["writeFile", { data: "", flag: "w" }],
    ["writeFile", { data: "", flag: "wx" }],
    ["writeFile", { data: "", flag: "a" }],
    ["mkdir", {}],
    ["mkdir", { recursive: true }],
    ["mkdtemp", {}],
    ["rm", {}],
    ["rm", { recursive: true, force: true }],
    ["rmdir", {}],
    ["unlink", {}],
    ["rename", { dest: "./workspace/x" }],
    ["rename", { dest: "./registry/x" }],
    ["access", { write: true }],
  ])("the registry cannot be changed by %s %j", (operation, more) => {
    for (const path of ["./registry/index.ts", "/registry/deep", "./workspace/../registry/index.ts"])
      expect(files.run(operation, path, more).error).toMatchObject({ code: "EROFS", hint: expect.any(String) });
    files.write("./workspace/a", "a");
    expect(files.code("rename", "./workspace/a", { dest: "./registry/a" })).toBe("EROFS");
    expect(files.code("copyFile", "./workspace/a", { dest: "./registry/a" })).toBe("EROFS");
    expect(files.names("./registry")).toEqual(["deep", "deep/tool.ts", "index.ts"]);
    expect(files.read("./registry/index.ts")).toBe("export const registry = 1;");
  });

  test("errors are Node's, with the given paths and the next step", () => {
    expect(files.run("readFile", "./workspace/x").error).toEqual({
      code: "ENOENT",
      message: "ENOENT: no such file or directory, open './workspace/x'",
      syscall: "open",
      path: "./workspace/x",
    });
    expect(files.run("rename", "workspace/x", { dest: "/workspace/y" }).error).toEqual({
      code: "ENOENT",
      message: "ENOENT: no such file or directory, rename 'workspace/x' -> '/workspace/y'",
      syscall: "rename",
      path: "workspace/x",
      dest: "/workspace/y",
    });
    expect(files.run("writeFile", "report.md", { data: "", flag: "w" }).error).toMatchObject({
      code: "ENOENT",
      message: "ENOENT: no such file or directory, open 'report.md'",
      hint: expect.stringContaining('"./workspace/report.md"'),
    });
    expect(() => files.files.run("format", "{}")).toThrow("there is no operation format");
  });

  test("a mount may be a link, or a folder that does not exist", () => {
    mkdirSync(join(files.around.path, "real"));
    symlinkSync("real", files.mounts.workspace);
    files.write("./workspace/a", "a");
    expect(files.read("./workspace/a")).toBe("a");
    expect(readdirSync(join(files.around.path, "real"))).toEqual(["a"]);
    using broken = new GuestFiles({ byDescriptor });
    broken.around.write("workspace", "a file");
    for (const operation of ["readFile", "stat", "readdir", "writeFile", "mkdir"]) {
      const { error } = broken.run(operation, "./workspace/a", { data: "", flag: "w" });
      expect(error?.code).toBe("ENOTDIR");
      expect(JSON.stringify(error)).not.toContain(broken.around.path);
    }
  });
});

describe("a quota", () => {
  const quotas = { fileBytes: 1_000, workspaceBytes: 2_500, workspaceEntries: 5 };
  const text = (length: number) => "x".repeat(length);
  let files: GuestFiles;
  beforeEach(() => {
    files = new GuestFiles({ quotas });
  });
  afterEach(() => files[Symbol.dispose]());
  const code = (path: string, length: number, flag = "w") =>
    files.code("writeFile", path, { data: text(length), flag });

  test("limits the size of one file", () => {
    expect(code("./workspace/a", 1_000)).toBe("");
    expect(code("./workspace/a", 1_001)).toBe("EFBIG");
    expect(code("./workspace/a", 1, "a")).toBe("EFBIG");
    expect(code("./workspace/b", 1_001, "wx")).toBe("EFBIG");
    expect(files.read("./workspace/a")).toBe(text(1_000));
    files.around.write("registry/big", text(1_001));
    expect(files.run("readFile", "./registry/big").error?.message).toBe(
      "EFBIG: file too large (1001 bytes; the limit is 1000 bytes), open './registry/big'",
    );
    expect(files.code("copyFile", "./registry/big", { dest: "./workspace/b" })).toBe("EFBIG");
    expect(files.names("./workspace")).toEqual(["a"]);
  });

  test("limits the size of the workspace, including files of others", () => {
    files.around.write("workspace/theirs/a", text(1_600));
    expect(code("./workspace/a", 900)).toBe("");
    expect(code("./workspace/b", 1)).toBe("EDQUOT");
    expect(code("./workspace/a", 1, "a")).toBe("EDQUOT");
    expect(code("./workspace/a", 900)).toBe("");
    expect(code("./workspace/a", 800)).toBe("");
    expect(code("./workspace/b", 100)).toBe("");
    expect(files.code("copyFile", "./workspace/b", { dest: "./workspace/c" })).toBe("EDQUOT");
    expect(files.run("copyFile", "./workspace/b", { dest: "./workspace/c" }).error).toMatchObject({
      message: expect.stringContaining("./workspace holds at most 2500 bytes"),
      hint: expect.stringContaining("fs.rm"),
    });
    files.value("rm", "./workspace/theirs", { recursive: true });
    expect(code("./workspace/c", 1_000)).toBe("");
  });

  test("limits the number of files and folders", () => {
    expect(files.code("mkdir", "./workspace/1/2/3/4/5/6", { recursive: true })).toBe("EDQUOT");
    expect(files.names("./workspace").length).toBe(5);
    expect(code("./workspace/a", 0)).toBe("EDQUOT");
    expect(files.code("mkdir", "./workspace/b")).toBe("EDQUOT");
    expect(files.code("mkdtemp", "./workspace/b-")).toBe("EDQUOT");
    files.value("rmdir", "./workspace/1/2/3/4/5");
    expect(code("./workspace/a", 0)).toBe("");
    expect(code("./workspace/a", 1)).toBe("");
    expect(code("./workspace/b", 0, "a")).toBe("EDQUOT");
    files.value("rename", "./workspace/a", { dest: "./workspace/b" });
    files.value("unlink", "./workspace/b");
    expect(code("./workspace/c", 0, "wx")).toBe("");
  });

  test("does not protect temporary files of dead writers: they are hidden, and removed", () => {
    const name = ".claudikins-00000000-0000-4000-8000-000000000000.tmp";
    const path = files.around.write(`workspace/${name}`, text(900));
    expect(files.names("./workspace")).toEqual([]);
    expect(files.code("readFile", `./workspace/${name}`)).toBe("EINVAL");
    expect(code("./workspace/a", 1)).toBe("");
    expect(existsSync(path)).toBe(true);
    utimesSync(path, 1_000, 1_000);
    new Files(files.mounts).run("mkdir", JSON.stringify({ path: "./workspace/b" }));
    expect(existsSync(path)).toBe(false);
  });
});
