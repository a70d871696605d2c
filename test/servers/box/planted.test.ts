/** Real boxes whose folders are changed by hostile servers between two starts, and while a box is made. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { HeldPath } from "../../../src/base/held-path.ts";
import type { Box } from "../../../src/config/box.ts";
import { systemPaths } from "../../../src/config/box-places.ts";
import { wrapArguments } from "../../../src/servers/box/bubblewrap.ts";
import { Contents } from "../../../src/servers/box/contents.ts";
import { root } from "../../support/claudikins.ts";
import { failureOf, failureText, openPool, plainValue, type ServerEntry, surroundings } from "../../support/pool.ts";
import { withoutSandbox } from "../../support/sandbox.ts";
import { diskFolder, type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder(diskFolder);
  for (const name of ["home", "data/inner", "other"]) mkdirSync(join(folder.path, name), { recursive: true });
  folder.write("home/keys/secret", "the secret of the user");
  folder.write("program/package.json", {});
  copyFileSync(join(root, "test", "fixtures", "servers", "intruder.ts"), join(folder.path, "program", "intruder.ts"));
});
afterEach(() => folder[Symbol.dispose]());

const at = (...names: string[]) => join(folder.path, ...names);

const intruder = (box: Partial<Box>, more: Partial<ServerEntry> = {}) =>
  ({
    command: "bun",
    args: [at("program", "intruder.ts")],
    cwd: at("other"),
    box: { read: [], write: [], network: false, ...box },
    ...more,
  }) as ServerEntry;

function open(entries: Record<string, ServerEntry>) {
  const scene = surroundings(folder.path);
  const pool = openPool(entries, { ...scene, env: { ...scene.env, HOME: at("home") } });
  const attempt = async (server: string, tool: string, args: Record<string, string>) =>
    String(plainValue(await pool.callTool(server, tool, args, {})));
  return { pool, attempt, [Symbol.asyncDispose]: () => pool.close() };
}

/** Puts a link to the keys in the place of a folder, as a server that may write there can. */
function plant(path: string): void {
  renameSync(path, `${path}-before`);
  symlinkSync(at("home/keys"), path);
}

const failure = async (entries: Record<string, ServerEntry>, server: string) => {
  await using opened = open(entries);
  return failureText(await failureOf(opened.pool.listTools(server, {})), folder.path);
};

describe.skipIf(withoutSandbox !== undefined)("a link that a server has planted", () => {
  test("in the place of its working directory does not move its box", async () => {
    const entry = intruder({ write: [at("data")], read: ["secret"] }, { cwd: at("data/inner") });
    {
      await using before = open({ entry });
      const planted = { folder: at("data"), to: at("home/keys") };
      expect(await before.attempt("entry", "rename-parent", planted)).toStartWith("refused: ");
      expect(await before.attempt("entry", "write", { path: at("data/inner/own") })).toBe("got: written");
    }
    plant(at("data/inner"));
    expect(await failure({ entry }, "entry")).toContain("MARK/data/inner leads through MARK/data");
  });

  test.each<[string, Partial<Box>, Partial<ServerEntry>]>([
    ["a folder to read", { read: ["../data/inner"] }, {}],
    ["a folder to write", { write: ["../data/inner"] }, {}],
    ["a folder on the way", { read: ["../data/inner/secret"] }, {}],
    ["the working directory", {}, { cwd: "data/inner" }],
  ])("moves no box of another server: %s", async (_, box, more) => {
    plant(at("data/inner"));
    const cwd = "cwd" in more ? { cwd: at(String(more.cwd)) } : {};
    const entries = { writer: intruder({ write: [at("data")] }), other: intruder(box, cwd) };
    expect(await failure(entries, "other")).toContain(
      'leads through MARK/data, which the server "writer" may write to',
    );
    // The writer itself has what its list names.
    await using opened = open(entries);
    expect(await opened.attempt("writer", "read", { path: at("data/inner/secret") })).toStartWith("refused: ");
  });

  test("does not open a box of another pool of this process", async () => {
    await using doors = open({ writer: intruder({ write: [at("data")] }) });
    await doors.pool.listTools("writer", {});
    expect(await failure({ other: intruder({ read: [at("data/inner")] }) }, "other")).toContain(
      'which the server "writer" may write to',
    );
  });

  test.each(["read", "write"] as const)("after the check of a box does not move it (%s)", async (kind) => {
    folder.write("other/secret", "no secret");
    const held: HeldPath[] = [];
    const contents = new Contents([], held);
    for (const path of systemPaths(false)) contents.add(path);
    contents.show(contents.find(at("other"))!, kind);
    plant(at("other"));
    const { args, files } = wrapArguments({ contents, cwd: "/", sharesNetwork: false, variables: {} });
    const command = ["bwrap", ...args, "/bin/sh", "-c", 'cat "$0"', at("other/secret")];
    const child = Bun.spawn(command, { stdio: ["ignore", "pipe", "pipe", ...files] });
    const [said] = await Promise.all([child.stdout.text(), child.exited]);
    for (const each of held) each[Symbol.dispose]();
    expect(said).toBe("no secret");
  });
});

describe.skipIf(withoutSandbox !== undefined)("a server in a box", () => {
  test("gets no open file of what its box was made of", async () => {
    await using opened = open({ entry: intruder({ write: [at("data")], read: [at("home/keys")] }) });
    const descriptors = await opened.attempt("entry", "links", { path: "/proc/self/fd" });
    expect(descriptors).toStartWith("got: ");
    expect(descriptors).not.toMatch(/(?:^| )\/(?!dev\/null|proc\/|\[|memfd|anon)/);
  });

  test("makes no hard link from a folder that it may read to one that it may write to", async () => {
    await using opened = open({ entry: intruder({ write: [at("data")], read: [at("home/keys")] }) });
    const args = { from: at("home/keys/secret"), to: at("data/linked") };
    expect(await opened.attempt("entry", "hard-link", args)).toStartWith("refused: ");
    expect(existsSync(at("data/linked"))).toBe(false);
  });

  test("has its program, and not all of the folder with a manifest around it", async () => {
    for (const name of ["package.json", "notes/secret", "claudikins.json"]) folder.write(`project/${name}`, "{}");
    const program = folder.write("project/tools/server/intruder.ts", readFileSync(at("program/intruder.ts"), "utf8"));
    await using opened = open({ entry: intruder({}, { args: [program] }) });
    const read = (name: string) => opened.attempt("entry", "read", { path: at("project", name) });
    expect(await read("tools/server/intruder.ts")).toStartWith("got: ");
    expect(await read("package.json")).toBe("got: {}");
    for (const name of ["notes/secret", "claudikins.json"]) expect(await read(name)).toStartWith("refused: ");
  });

  test("does not change the program of a server without a box", async () => {
    const free = { command: "bun", args: [at("program/intruder.ts")] };
    const entries = { writer: intruder({ write: [at("program")] }), free };
    expect(await failure(entries, "writer")).toContain('MARK/program/intruder.ts, which the server "free" starts');
    expect(readFileSync(at("program/intruder.ts"), "utf8")).not.toContain("planted");
  });
});
