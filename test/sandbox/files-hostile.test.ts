/** Only the two mounts can be reached, with any spelling, link or race. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { descriptorsHaveNames } from "../../src/base/open-folder.ts";
import { root } from "../support/claudikins.ts";
import { bothWays, GuestFiles } from "./guest-files.ts";

setDefaultTimeout(60_000);

/** A path, and the result of every operation on it. */
const paths: [string, string, string][] = [
  ["nothing", "", "ENOENT"],
  ["the parent", "..", ""],
  ["parents", "../../..", ""],
  ["a file beside the mounts", "../secret.txt", "ENOENT"],
  ["out of the workspace", "./workspace/../secret.txt", "ENOENT"],
  ["out of it twice", "./workspace/../../secret.txt", "ENOENT"],
  ["out of a folder", "./workspace/a/../../../secret.txt", "ENOENT"],
  ["out of what is not there", "./workspace/no/no/../../../../etc/passwd", "ENOENT"],
  ["out of the registry", "./registry/../../secret.txt", "ENOENT"],
  ["doubled slashes", "workspace//..//..//secret.txt", "ENOENT"],
  ["dots between", "./workspace/./.././secret.txt", "ENOENT"],
  ["many parents", `./workspace/${"../".repeat(100)}etc/passwd`, "ENOENT"],
  ["absolute", "/etc/passwd", "ENOENT"],
  ["absolute, doubled", "//etc/passwd", "ENOENT"],
  ["the processes", "/proc/self/environ", "ENOENT"],
  ["descriptors", "/proc/self/fd/0", "ENOENT"],
  ["devices", "/dev/zero", "ENOENT"],
  ["the home", "~/.ssh/id_rsa", "ENOENT"],
  ["a home in the workspace", "./workspace/~/x", "ENOENT"],
  ["a variable", "$HOME/x", "ENOENT"],
  ["a file URL", "file:///etc/passwd", "ENOENT"],
  ["another mount", "./outputs/x", "ENOENT"],
  ["a mount in capitals", "./Workspace/a", "ENOENT"],
  ["a longer name than a mount's", "./workspace2/a", "ENOENT"],
  ["a shorter one", "./works/a", "ENOENT"],
  ["a mount with a space before", " workspace/a", "ENOENT"],
  ["a mount with a space after", "workspace /a", "EINVAL"],
  ["NUL at the end", "./workspace/a\0", "EINVAL"],
  ["NUL before an extension", "./workspace/../secret.txt\0.md", "EINVAL"],
  ["NUL alone", "\0", "EINVAL"],
  ["backslashes", "..\\..\\secret.txt", "EINVAL"],
  ["mixed slashes", "./workspace/..\\..\\secret.txt", "EINVAL"],
  ["a drive", "C:\\Windows\\win.ini", "EINVAL"],
  ["a drive with slashes", "C:/Windows/win.ini", "ENOENT"],
  ["a network share", "\\\\host\\share", "EINVAL"],
  ["encoded dots", "./workspace/%2e%2e/%2e%2e/secret.txt", "ENOENT"],
  ["encoded slashes", "./workspace/..%2f..%2fsecret.txt", "ENOENT"],
  ["encoded twice", "./workspace/%252e%252e%252fsecret.txt", "ENOENT"],
  ["overlong UTF-8, decoded badly", "./workspace/\u00c0\u00ae\u00c0\u00ae/x", "ENOENT"],
  ["fullwidth dots", "./workspace/\uff0e\uff0e/secret.txt", "EINVAL"],
  ["one-dot leaders", "./workspace/\u2024\u2024/secret.txt", "EINVAL"],
  ["a two-dot leader", "./workspace/\u2025/secret.txt", "EINVAL"],
  ["a fullwidth slash", "./workspace/..\uff0f..\uff0fsecret.txt", "EINVAL"],
  ["a division slash", "./workspace/..\u2215secret.txt", "EINVAL"],
  ["a fraction slash", "./workspace/..\u2044secret.txt", "EINVAL"],
  ["a fullwidth backslash", "./workspace/..\uff3csecret.txt", "EINVAL"],
  ["a set minus", "./workspace/..\u2216secret.txt", "EINVAL"],
  ["a zero-width space in dots", "./workspace/.\u200b./secret.txt", "EINVAL"],
  ["text that runs backwards", "./workspace/\u202etxt.exe", "EINVAL"],
  ["a byte-order mark", "\ufeff./workspace/a", "EINVAL"],
  ["a soft hyphen", "./workspace/a\u00adb", "EINVAL"],
  ["half a character", "./workspace/\ud800", "EINVAL"],
  ["a line feed", "./workspace/a\nb", "EINVAL"],
  ["an escape sequence", "./workspace/\u001b[31m", "EINVAL"],
  ["a line separator", "./workspace/a\u2028b", "EINVAL"],
  ["a dot at the end", "./workspace/a.", "EINVAL"],
  ["three dots", "./workspace/.../secret.txt", "EINVAL"],
  ["a space at the end", "./workspace/a ", "EINVAL"],
  ["dots and a space", "./workspace/.. /secret.txt", "EINVAL"],
  ["a space alone", "./workspace/ ", "EINVAL"],
  ["a very long name", `./workspace/${"a".repeat(256)}`, "ENAMETOOLONG"],
  ["a name with many bytes", `./workspace/${"é".repeat(128)}`, "ENAMETOOLONG"],
  ["a very long path", `./workspace/${"a/".repeat(3_000)}`, "ENAMETOOLONG"],
  ["a very deep path", `./workspace/${"a/".repeat(64)}`, "ENAMETOOLONG"],
  ["a path of a megabyte", "../".repeat(350_000), "ENAMETOOLONG"],
  ["an unfinished file", "./workspace/.claudikins-00000000-0000-4000-8000-000000000000.tmp", "EINVAL"],
];

describe.each(bothWays)("hostile paths with byDescriptor=%p", (byDescriptor) => {
  let files: GuestFiles;
  let secret: string;
  beforeEach(() => {
    files = new GuestFiles({ byDescriptor });
    secret = join(files.around.path, "secret.txt");
    files.around.write("workspace/a.txt", "a");
    files.around.write("registry/r.txt", "r");
    files.around.write("outside/o.txt", "o");
  });
  afterEach(() => {
    expect(readFileSync(secret, "utf8")).toBe("s3cret");
    expect(readdirSync(join(files.around.path, "outside"))).toEqual(["o.txt"]);
    expect(readdirSync(files.around.path).sort()).toEqual(["outside", "registry", "secret.txt", "workspace"]);
    files[Symbol.dispose]();
  });
  const inWorkspace = (name: string) => join(files.mounts.workspace, name);
  const outside = (name = "") => join(files.around.path, "outside", name);

  /** The results of every operation on a path, which must contain nothing beyond the path itself. */
  const attempts: [string, object][] = [
    ["readFile", {}],
    ["stat", {}],
    ["lstat", {}],
    ["readdir", {}],
    ["access", {}],
    ["realpath", {}],
    ["unlink", {}],
    ["rmdir", {}],
    ["rm", { recursive: true }],
    ["rename", { dest: "./workspace/got" }],
    ["copyFile", { dest: "./workspace/got" }],
  ];
  const creations: [string, object][] = [
    ["writeFile", { data: "x", flag: "w" }],
    ["writeFile", { data: "x", flag: "wx" }],
    ["writeFile", { data: "x", flag: "a" }],
    ["mkdir", {}],
    ["mkdtemp", {}],
  ];

  test.each(paths)("no operation leaves the mounts: %s", (_, path, code) => {
    // Some are ordinary names of a file that does not exist and may be created.
    const plain = /^\.\/workspace\/[^/]+$/.test(path) && code === "ENOENT";
    for (const [operation, more] of [...attempts, ...(plain ? [] : creations)]) {
      // The created file has a longer name, which may be valid.
      if (operation === "mkdtemp" && code === "EINVAL") continue;
      const { error, value } = files.run(operation, path, more);
      if (code !== "") expect([operation, error?.code]).toEqual([operation, code]);
      expect(JSON.stringify({ error, value })).not.toContain(files.around.path);
      expect(error?.message.length ?? 0).toBeLessThan(1_500);
    }
    for (const operation of ["rename", "copyFile"])
      if (!plain && code !== "") expect(files.code(operation, "./workspace/a.txt", { dest: path })).toBe(code);
    expect(files.names("./workspace")).toEqual(["a.txt"]);
    expect(files.names("./registry")).toEqual(["r.txt"]);
  });

  test.each([[undefined], [null], [7], [["./workspace/a.txt"]], [{ path: "./workspace/a.txt" }], [true]])(
    "a path that is not text is refused: %j",
    (path) => {
      for (const [operation, more] of [...attempts, ...creations])
        expect(files.code(operation, path, more)).toBe("EINVAL");
    },
  );

  test.each([
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "..a",
    "a..b",
    ".hidden",
    "-rf",
    "*",
    "?a=b#c",
    "%2e%2e",
    "CON",
    "2026-11-20T21:27:20Z.json",
    "日本語.md",
    "e\u0301",
    "👩\u200d💻.txt",
    "a'b\"c`d",
    "$(id)",
    "; rm -rf x",
    "x".repeat(255),
  ])("an unusual name is ordinary: %s", (name) => {
    files.write(`./workspace/${name}`, name);
    expect(files.read(`./workspace/${name}`)).toBe(name);
    expect(files.names("./workspace").sort()).toEqual([name, "a.txt"].sort());
    files.value("rename", `./workspace/${name}`, { dest: "./workspace/other" });
    files.value("rename", "./workspace/other", { dest: `./workspace/${name}` });
    expect(readFileSync(inWorkspace(name), "utf8")).toBe(name);
    files.value("unlink", `./workspace/${name}`);
  });

  const links: [string, () => string][] = [
    ["to a file outside", () => secret],
    ["to a file outside, relative", () => "../secret.txt"],
    ["to a folder outside", () => outside()],
    ["to the root", () => "/"],
    ["to a file of the workspace", () => "a.txt"],
    ["to the workspace itself", () => "."],
    ["to itself", () => "link"],
    ["to nothing", () => "nowhere"],
    ["to what would be made outside", () => "../outside/new.txt"],
    ["to a device", () => "/dev/zero"],
    ["to this process", () => "/proc/self/environ"],
    ["to the registry", () => "../registry"],
  ];
  test.each(links)("a link %s is not followed", (_, target) => {
    symlinkSync(target(), inWorkspace("link"));
    const path = "./workspace/link";
    const copying = ["copyFile", { dest: "./workspace/got" }] as [string, object];
    for (const [operation, more] of [
      ...creations.slice(0, 3),
      copying,
      ["readFile", {}],
      ["stat", {}],
      ["readdir", {}],
      ["access", {}],
      ["realpath", {}],
      ["rename", { dest: "./workspace/got" }],
      ["mkdir", { recursive: true }],
    ] as [string, object][]) {
      const code = operation === "writeFile" && "flag" in more && more.flag === "wx" ? "EEXIST" : "EACCES";
      expect([operation, files.code(operation, path, more)]).toEqual([operation, code]);
    }
    expect(files.run("readFile", path).error).toMatchObject({
      message: "EACCES: permission denied (symbolic links are not followed), open './workspace/link'",
      hint: expect.any(String),
    });
    expect(files.code("copyFile", "./workspace/a.txt", { dest: path })).toBe("EACCES");
    expect(files.code("rename", "./workspace/a.txt", { dest: path })).toBe("EACCES");
    for (const [operation, more] of [...attempts, ...creations])
      expect([operation, files.code(operation, `${path}/o.txt`, more)]).toEqual([operation, "EACCES"]);
    expect(files.code("mkdir", `${path}/x/y`, { recursive: true })).toBe("EACCES");
    expect(files.value("lstat", path)).toMatchObject({ kind: "link" });
    expect(files.value("readdir", "./workspace", { recursive: true })).toEqual([
      { name: "a.txt", parent: "", kind: "file" },
      { name: "link", parent: "", kind: "link" },
    ]);
    files.value("rm", path, { recursive: true });
    expect(files.names("./workspace")).toEqual(["a.txt"]);
  });

  test("links in a removed folder are removed, and not their targets", () => {
    mkdirSync(inWorkspace("folder/inner"), { recursive: true });
    symlinkSync(outside(), inWorkspace("folder/inner/link"));
    symlinkSync(secret, inWorkspace("folder/file"));
    files.value("rm", "./workspace/folder", { recursive: true });
    expect(files.names("./workspace")).toEqual(["a.txt"]);
  });

  test("a folder that becomes a link between two calls is not followed", () => {
    files.value("mkdir", "./workspace/folder");
    files.write("./workspace/folder/x", "mine");
    renameSync(inWorkspace("folder"), inWorkspace("before"));
    symlinkSync(outside(), inWorkspace("folder"));
    for (const [operation, more] of [...attempts, ...creations])
      expect([operation, files.code(operation, "./workspace/folder/o.txt", more)]).toEqual([operation, "EACCES"]);
    expect(files.read("./workspace/before/x")).toBe("mine");
  });

  test("a workspace that becomes a link between two calls is not followed", () => {
    expect(files.read("./workspace/a.txt")).toBe("a");
    renameSync(files.mounts.workspace, join(files.around.path, "moved"));
    symlinkSync(outside(), files.mounts.workspace);
    expect(files.run("readFile", "./workspace/o.txt").value).toBeUndefined();
    expect(files.code("writeFile", "./workspace/new", { data: "x", flag: "w" })).not.toBe("");
    rmSync(files.mounts.workspace);
    renameSync(join(files.around.path, "moved"), files.mounts.workspace);
  });

  test("a file with hard links is not read or appended to, and replacing it does not change the other names", () => {
    linkSync(secret, inWorkspace("hard"));
    linkSync(secret, join(files.mounts.registry, "hard"));
    for (const path of ["./workspace/hard", "./registry/hard"]) {
      expect(files.run("readFile", path).error).toMatchObject({
        code: "EACCES",
        message: expect.stringContaining("hard links"),
      });
      expect(files.code("copyFile", path, { dest: "./workspace/got" })).toBe("EACCES");
    }
    expect(files.code("writeFile", "./workspace/hard", { data: "x", flag: "a" })).toBe("EACCES");
    files.write("./workspace/hard", "mine");
    expect(files.read("./workspace/hard")).toBe("mine");
  });

  test("pipes, sockets and devices are refused at once", async () => {
    expect(Bun.spawnSync(["mkfifo", inWorkspace("pipe")]).exitCode).toBe(0);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(inWorkspace("socket"), resolve));
    for (const path of ["./workspace/pipe", "./workspace/socket"]) {
      for (const [operation, more] of [
        ["readFile", {}],
        ["copyFile", { dest: "./workspace/got" }],
        ["rename", { dest: "./workspace/got" }],
        ...creations.slice(0, 1),
        ...creations.slice(2, 3),
      ] as [string, object][])
        expect([path, operation, files.code(operation, path, more)]).toEqual([path, operation, "EACCES"]);
      expect(files.value("stat", path)).toMatchObject({ kind: "other" });
    }
    server.close();
    files.value("rm", "./workspace/pipe");
    files.value("rm", "./workspace/socket", { force: true });
    expect(files.names("./workspace")).toEqual(["a.txt"]);
  });

  test("folders deeper than code can create are refused without an overflow", () => {
    const deep = inWorkspace("deep/".repeat(200));
    mkdirSync(deep, { recursive: true });
    for (const operation of ["readdir", "rm"])
      expect(files.code(operation, "./workspace", { recursive: true })).not.toBe("");
    expect(files.code("rm", "./workspace/deep", { recursive: true })).toBe("ENAMETOOLONG");
    files.write("./workspace/b.txt", "still works");
  });
});

/** Runs in its own process until it is disposed. */
function meanwhile(code: string, ...args: string[]): Disposable {
  const child = Bun.spawn([process.execPath, "-e", code, "--", ...args], { stdout: "ignore", stderr: "inherit" });
  return { [Symbol.dispose]: () => child.kill("SIGKILL") };
}

const swapping = `
  const fs = require("node:fs");
  const [folder, link, held, target] = process.argv.slice(-4);
  // The link is created again each time, because a write that replaces it would end the race.
  const relink = () => { try { fs.unlinkSync(link); } catch {} try { fs.symlinkSync(target, link); } catch {} };
  for (;;) { relink(); try { fs.renameSync(folder, held); fs.renameSync(link, folder); fs.renameSync(folder, link); fs.renameSync(held, folder); } catch {} }`;

// Without descriptors, this race can be lost; see folder.ts.
describe.if(descriptorsHaveNames)("a race", () => {
  test.each(["folder", "file"])("with a %s that is constantly swapped for a link cannot be won", async (what) => {
    using files = new GuestFiles();
    const inside = (name: string) => join(files.mounts.workspace, name);
    files.around.write(what === "folder" ? "workspace/x/secret.txt" : "workspace/x", "mine");
    const target = what === "folder" ? files.around.path : join(files.around.path, "secret.txt");
    symlinkSync(target, inside("link"));
    const path = what === "folder" ? "./workspace/x/secret.txt" : "./workspace/x";
    using _ = meanwhile(swapping, inside("x"), inside("link"), inside("held"), target);
    const seen = new Map<string, number>();
    const until = performance.now() + 1_500;
    // On a busy machine, the other process may have its first turn late.
    while (performance.now() < until || !seen.has("EACCES")) {
      const { value, error } = files.run("readFile", path);
      const answer = error?.code ?? String(value);
      seen.set(answer, (seen.get(answer) ?? 0) + 1);
      files.run("writeFile", path, { data: "mine", flag: Math.random() < 0.5 ? "w" : "a" });
    }
    expect([...seen.keys()].filter((answer) => !/^(?:mine)+$|^(?:EACCES|ENOENT|EISDIR|ENOTDIR)$/.test(answer))).toEqual(
      [],
    );
    expect(readFileSync(join(files.around.path, "secret.txt"), "utf8")).toBe("s3cret");
  });
});

describe.each(bothWays)("concurrent processes with byDescriptor=%p", (byDescriptor) => {
  const writer = (how: string) => `
    const { Files } = await import(${JSON.stringify(join(root, "src/sandbox/host/files.ts"))});
    const [workspace, registry, letter] = process.argv.slice(-3);
    const files = new Files({ workspace, registry }, { byDescriptor: ${byDescriptor} });
    for (let i = 0; i < 200; i++) { ${how} }`;

  async function runWriters(files: GuestFiles, how: string, during: () => void): Promise<void> {
    const { workspace, registry } = files.mounts;
    const children = ["a", "b", "c"].map((letter) =>
      Bun.spawn([process.execPath, "-e", writer(how), "--", workspace, registry, letter], { stderr: "inherit" }),
    );
    let running = true;
    const all = Promise.all(children.map(({ exited }) => exited)).then((codes) => {
      running = false;
      return codes;
    });
    while (running) {
      during();
      await Bun.sleep(0);
    }
    expect(await all).toEqual([0, 0, 0]);
  }

  test("replace one file so that a reader always sees one complete version", async () => {
    using files = new GuestFiles({ byDescriptor });
    files.write("./workspace/file", "a".repeat(300_000));
    let reads = 0;
    const how = `const { error } = JSON.parse(files.run("writeFile", JSON.stringify({ path: "./workspace/file", data: letter.repeat(300_000), flag: "w" }))); if (error) throw error;`;
    await runWriters(files, how, () => {
      const text = String(files.read("./workspace/file"));
      reads += 1;
      expect(text.length).toBe(300_000);
      expect(new Set(text).size).toBe(1);
    });
    expect(reads).toBeGreaterThan(2);
    expect(readdirSync(files.mounts.workspace)).toEqual(["file"]);
  });

  test("append to one file without losing or mixing lines", async () => {
    using files = new GuestFiles({ byDescriptor });
    const how = `const { error } = JSON.parse(files.run("writeFile", JSON.stringify({ path: "./workspace/log", data: letter.repeat(999) + "\\n", flag: "a" }))); if (error) throw error;`;
    await runWriters(files, how, () => {});
    const lines = String(files.read("./workspace/log")).split("\n");
    expect(lines.pop()).toBe("");
    expect(lines.length).toBe(600);
    expect(lines.filter((line) => !/^(?:a{999}|b{999}|c{999})$/.test(line))).toEqual([]);
  });

  test("create one file so that exactly one succeeds", async () => {
    using files = new GuestFiles({ byDescriptor });
    const how = `const { error } = JSON.parse(files.run("writeFile", JSON.stringify({ path: "./workspace/f" + i, data: letter, flag: "wx" })));
      if (error && error.code !== "EEXIST") throw error;
      if (!error) files.run("writeFile", JSON.stringify({ path: "./workspace/won-" + i, data: letter, flag: "a" }));`;
    await runWriters(files, how, () => {});
    for (let i = 0; i < 200; i++) expect(files.read(`./workspace/won-${i}`)).toBe(files.read(`./workspace/f${i}`));
  });
});

test.if(descriptorsHaveNames)("no descriptor stays open, however an operation ends", () => {
  using files = new GuestFiles();
  mkdirSync(files.mounts.workspace);
  symlinkSync("/", join(files.mounts.workspace, "link"));
  writeFileSync(join(files.mounts.workspace, "file"), "");
  const open = () => readdirSync("/proc/self/fd").length;
  const before = open();
  for (const path of [
    "./workspace/link/x",
    "./workspace/link",
    "./workspace/no/x",
    "./workspace/file/x",
    "./workspace/a",
  ])
    for (const operation of ["readFile", "writeFile", "stat", "readdir", "mkdir", "rm", "rename", "copyFile", "access"])
      files.run(operation, path, { data: "x", flag: "w", recursive: true, dest: "./workspace/link/y" });
  expect(open()).toBe(before);
});
