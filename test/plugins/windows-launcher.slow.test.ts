/** The launcher of the plugin on Windows, under Wine, with programs of Wine in the place of claudikins. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/claudikins.ts";
import { runProgram } from "../support/process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { noWine } from "../support/wine.ts";

const note = noWine === undefined ? "" : ` (skipped: ${noWine})`;
const launcher = windowsPath(join(root, "deploy", "plugin", "bin", "claudikins"));

describe.skipIf(noWine !== undefined)(`the launcher on Windows${note}`, () => {
  let folder: TemporaryFolder;
  let env: Record<string, string>;
  beforeAll(async () => {
    folder = temporaryFolder();
    env = { HOME: folder.path, WINEPREFIX: join(folder.path, "prefix"), WINEDEBUG: "-all" };
    Object.assign(env, { WINEDLLOVERRIDES: "mscoree,mshtml=" });
    await runProgram(["wine", "wineboot", "-i"], { env });
    // Otherwise it ends when no program runs, and a program that starts at this moment fails.
    const all = { PATH: process.env["PATH"] ?? "", ...env };
    await Bun.spawn(["wineserver", "-p"], { env: all, stdio: ["ignore", "ignore", "ignore"] }).exited;
    // This program refuses all arguments.
    const program = join(folder.path, "prefix", "drive_c", "windows", "system32", "hostname.exe");
    for (const name of ["installed here", "project"]) {
      folder.write(`${name}/note`, "");
      cpSync(program, join(folder.path, name, "claudikins.exe"));
    }
    for (const name of ["node", "project"]) folder.write(`${name}/npx.cmd`, `@echo off\r\necho npx of ${name}: %*\r\n`);
    folder.write("odd & (x86) !/npx.cmd", "@echo off\r\necho odd npx: %*\r\n");
    folder.write("telling/npx.cmd", '@echo off\r\necho "%PATH%"\r\n');
  }, 60_000);
  afterAll(async () => {
    await runProgram(["wineserver", "-k"], { env });
    folder[Symbol.dispose]();
  });

  /** Starts it in the project, with this folder on the PATH. Output goes to files, which Wine does not keep open. */
  async function launch(...names: string[]): Promise<string> {
    const output = join(folder.path, "output");
    writeFileSync(output, "");
    const child = Bun.spawn(["wine", "cmd", "/c", launcher, "serve", "a b"], {
      cwd: join(folder.path, "project"),
      env: { PATH: process.env["PATH"] ?? "", ...env, WINEPATH: names.map(pathOf).join(";") },
      stdin: "ignore",
      stdout: Bun.file(output),
      stderr: Bun.file(output),
    });
    await child.exited;
    return readFileSync(output, "utf8").replaceAll("\r\n", "\n");
  }

  /** Relative entries stay as they are. */
  const pathOf = (name: string) => (/^\.{0,2}$|^\.{1,2}\\/.test(name) ? name : windowsPath(join(folder.path, name)));

  test("starts the claudikins on the PATH", async () => {
    expect(await launch("installed here")).toContain("Usage: hostname");
  });

  test("starts npx otherwise, and no program of the project", async () => {
    expect(await launch("node")).toEndWith('npx of node: --prefix / -y claudikins serve "a b"\n');
  });

  test.each([
    [".", "node"],
    ["", "node"],
    ["node", "."],
    [".\\", "node"],
    ["..\\project", "node"],
  ])("starts no program of the project with the PATH %j and %j", async (first, second) => {
    expect(await launch(first!, second!)).toEndWith('npx of node: --prefix / -y claudikins serve "a b"\n');
  });

  test("starts npx with a PATH that has no relative folder, so that npx finds no node of the project", async () => {
    const path = (await launch(".", "telling", "", "..\\project", "odd & (x86) !")).trim();
    expect(path).toStartWith('"C:\\windows');
    const folders = path.slice(1, -1).split(";");
    expect(folders.filter((each) => !/^[A-Z]:\\/i.test(each))).toEqual([]);
    expect(folders.filter((each) => each.startsWith("Z:"))).toEqual(["telling", "odd & (x86) !"].map(pathOf));
  });

  test("finds npx in folders with odd names, beside relative ones too", async () => {
    for (const names of [["odd & (x86) !"], [".", "odd & (x86) !"]]) {
      expect(await launch(...names)).toEndWith('odd npx: --prefix / -y claudikins serve "a b"\n');
    }
  });

  test("says what to install if there is neither claudikins nor npx", async () => {
    expect(await launch("none")).toContain(
      "error: claudikins is not installed, and there is no npx to start it with\n",
    );
  });
});

function windowsPath(path: string): string {
  return `Z:${path.replaceAll("/", "\\")}`;
}
