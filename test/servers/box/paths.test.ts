/** What a box shows: the paths of an entry, the order of mounts, and the hosts that its proxy connects to. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, linkSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { ClaudikinsError } from "../../../src/base/errors.ts";
import { HeldPath } from "../../../src/base/held-path.ts";
import { Contents, orderedMounts } from "../../../src/servers/box/contents.ts";
import { openPaths } from "../../../src/servers/box/lists.ts";
import type { Neighbour } from "../../../src/servers/box/neighbours.ts";
import { showPrograms, startFiles } from "../../../src/servers/box/programs.ts";
import { isListed, mayConnect, targetOf } from "../../../src/servers/box/proxy.ts";
import { type ServerEntry, serverConfig } from "../../support/pool.ts";
import { diskFolder, type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

let folder: TemporaryFolder;
const held: HeldPath[] = [];
beforeEach(() => {
  folder = temporaryFolder(diskFolder);
  for (const name of ["home/.local/share/claudikins", "work/inner", "other"]) {
    mkdirSync(join(folder.path, name), { recursive: true });
  }
});
afterEach(() => {
  for (const each of held.splice(0)) each[Symbol.dispose]();
  folder[Symbol.dispose]();
});

const at = (...names: string[]) => join(folder.path, ...names);

interface Lists {
  read?: string[];
  write?: string[];
}

/** The variables of claudikins. */
let variables: Record<string, string> = {};
beforeEach(() => {
  variables = { HOME: at("home") };
});

const neighbour = (name: string, lists: Lists | undefined, entry: Partial<ServerEntry> = {}): Neighbour => {
  const sandbox = lists && { read: [], write: [], network: false, ...lists };
  const server = serverConfig(name, { command: "/bin/true", ...entry, box: sandbox } as ServerEntry);
  return { server, cwd: server.cwd ?? at("work"), env: variables };
};

const opened = (own: Neighbour, others: Neighbour[] = []) => openPaths(own, [own, ...others], held);

function refusal(own: Lists | Neighbour, others: Neighbour[] = []): string {
  try {
    opened("server" in own ? own : neighbour("boxed", own), others);
    return "";
  } catch (error) {
    const { code, message } = error as ClaudikinsError;
    return `${code}: ${message}`.replaceAll(folder.path, "FOLDER").replace("its sandbox cannot be made: ", "");
  }
}

describe("the paths of an entry", () => {
  test("start at the working directory or the home folder", () => {
    mkdirSync(at("home/notes"));
    const { read, write } = opened(neighbour("boxed", { read: ["~/notes", "~/missing"], write: [".", at("other/")] }));
    expect(read.map(({ path }) => path)).toEqual([at("home/notes")]);
    expect(write.map(({ path }) => path)).toEqual([at("work"), at("other")]);
  });

  test.each([
    [{ write: ["~"] }, "CONFIG_INVALID: FOLDER/home holds everything in FOLDER/home"],
    [{ write: ["~/"] }, "CONFIG_INVALID: FOLDER/home holds everything in FOLDER/home"],
    [{ write: ["../home/x/.."] }, "CONFIG_INVALID: FOLDER/home holds everything in FOLDER/home"],
    [{ read: ["/"] }, "CONFIG_INVALID: / holds everything in FOLDER/home"],
    [{ write: ["/tmp"] }, /^CONFIG_INVALID: \/tmp holds everything in /],
    [{ read: ["/etc"] }, "CONFIG_INVALID: /etc holds everything in /etc"],
    [{ read: ["/run"] }, "CONFIG_INVALID: /run holds everything in /run"],
    [{ read: ["~/.local/share"] }, /gives access to files of claudikins in FOLDER\/home\/.local\/share\/claudikins$/],
    [{ read: ["~/.local/share/claudikins"] }, /gives access to files of claudikins/],
    [{ write: ["~/.config/claudikins"] }, /gives access to files of claudikins/],
    [{ write: ["missing"] }, "CONFIG_INVALID: FOLDER/work/missing does not exist"],
    [{ write: [""] }, "CONFIG_INVALID: one of its paths is empty"],
    [{ write: ["."], read: ["inner"] }, /^CONFIG_INVALID: FOLDER\/work\/inner leads through FOLDER\/work, which/],
    [{ write: [".", "inner"] }, /^CONFIG_INVALID: FOLDER\/work\/inner leads through FOLDER\/work, which/],
  ])("refuses %j", (lists, expected) => {
    mkdirSync(at("home/.config/claudikins"), { recursive: true });
    expect(refusal(lists)).toMatch(expected);
  });

  test.each(["/proc", "/proc/", "/proc/sys", "/proc/self/root", "/sys", "/sys/fs", "/dev", "/dev/shm", "/usr/../proc"])(
    "do not open the kernel: %s",
    (path) => {
      expect(refusal({ read: [path] })).toMatch(/gives access to the kernel|holds everything/);
      expect(refusal({ write: [path] })).toMatch(/gives access to the kernel|holds everything/);
    },
  );

  test.each(["/etc/profile.d", "/etc/hosts", "/usr/local/bin", "/usr/lib", "/bin", "/boot", "/var/spool", "/var"])(
    "give no write access to programs and settings of the system: %s",
    (path) => {
      expect(refusal({ write: [path] })).toMatch(/where programs or their settings are|holds everything/);
    },
  );

  test.each([
    ".bashrc",
    ".claude",
    ".codex/config.toml",
    ".config/fish",
    ".local/bin",
    ".npm/_npx",
    ".ssh",
    ".cache/uv",
  ])("give no write access to settings and programs in a home: ~/%s", (name) => {
    folder.write(`home/${name}/file`, "");
    expect(refusal({ write: [`~/${name}`] })).toContain("is hidden in a home");
    expect(refusal({ write: [`~/${name}/file`] })).toContain("is hidden in a home");
    symlinkSync(at("home", name), at("other/link"));
    expect(refusal({ write: [at("other/link")] })).toContain("is hidden in a home");
    expect(refusal({ read: [`~/${name}`] })).toBe("");
  });

  test("may be written to in the folder for data of a home, where no programs are", () => {
    for (const name of ["memory", "uv"]) mkdirSync(at("home/.local/share", name));
    expect(refusal({ write: ["~/.local/share/memory"] })).toBe("");
    expect(refusal({ write: ["~/.local/share/uv"] })).toContain("where programs or their settings are");
    expect(refusal({ write: ["~/.local"] })).toContain("gives access to files of claudikins");
  });

  test("give no write access to folders in which commands are found, or to what variables name", () => {
    mkdirSync(at("other/bin"));
    variables = { ...variables, PATH: `/usr/bin:${at("other/bin")}`, npm_config_cache: at("work/cache") };
    const { guards } = opened(neighbour("boxed", { write: [at("other")] }));
    expect(guards.map(({ kind, held: { path } }) => [kind, path])).toEqual([["guard", at("other/bin")]]);
    expect(refusal({ write: [at("other/bin")] })).toContain("FOLDER/other/bin, where programs");
    expect(refusal({ write: [folder.write("other/bin/tool", "")] })).toContain("FOLDER/other/bin, where programs");
    // The cache does not exist yet.
    expect(refusal({ write: [at("work")] })).toContain("FOLDER/work/cache, where programs");
    expect(refusal({ write: [at("work/inner")] })).toBe("");
  });

  test("are compared by what they are: a hard link to a closed file is refused", () => {
    const executable = process.execPath;
    variables = { ...variables, CODEX_HOME: folder.write("home/settings", "") };
    linkSync(at("home/settings"), at("work/harmless"));
    expect(refusal({ write: ["harmless"] })).toContain("where programs or their settings are");
    expect(refusal({ write: [executable] })).toContain("where programs or their settings are");
  });

  test("lead nowhere else through a link in a folder that the server may write to", () => {
    symlinkSync(at("home"), at("work/link"));
    expect(refusal({ write: ["."], read: ["link/.ssh"] })).toBe("");
    mkdirSync(at("home/.ssh"));
    expect(refusal({ write: ["."], read: ["link/.ssh"] })).toContain("leads through FOLDER/work");
    // A link that leads back through the folder.
    symlinkSync(at("work/link"), at("other/back"));
    expect(refusal({ write: ["."], read: [at("other/back/.ssh")] })).toContain("leads through FOLDER/work");
  });

  test("in such a folder do not decide which files a program gets", () => {
    mkdirSync(at("work/node_modules/.bin"), { recursive: true });
    folder.write("home/secret/package.json", {});
    const secret = folder.write("home/secret/program", "#!/bin/sh\n");
    symlinkSync(secret, at("work/node_modules/.bin/server"));
    expect(reached("work/node_modules/.bin/server")).toContain(at("home/secret"));
    const work = new HeldPath(at("work"));
    held.push(work);
    expect(reached("work/node_modules/.bin/server", { writable: [work] })).toEqual([]);
  });
});

describe("the working directory of a box", () => {
  test("may be inside a folder that the server may write to", () => {
    const { cwd } = opened(neighbour("boxed", { write: [at("work")] }, { cwd: at("work/inner") }));
    expect(cwd.path).toBe(at("work/inner"));
  });

  test.each([
    ["its last name", "work/moved", "work/moved"],
    ["a name on the way", "work/moved", "work/moved/below"],
  ])("is refused if a server has put a link there: %s", (_, link, cwd) => {
    mkdirSync(at("home/secret/below"), { recursive: true });
    symlinkSync(at("home/secret"), at(link));
    const boxed = neighbour("boxed", { write: [at("work")], read: ["file"] }, { cwd: at(cwd) });
    expect(refusal(boxed)).toMatch(/^CONFIG_INVALID: FOLDER\/work\/moved\S* leads through FOLDER\/work, which/);
    const bystander = neighbour("bystander", {}, { cwd: at(cwd) });
    expect(refusal(bystander, [neighbour("writer", { write: [at("work")] })])).toContain('the server "writer"');
    expect(refusal(bystander)).toBe("");
  });

  test("must exist", () => {
    const boxed = neighbour("boxed", {}, { cwd: at("missing") });
    expect(refusal(boxed)).toBe("SERVER_UNAVAILABLE: its working directory FOLDER/missing does not exist");
  });
});

describe("the boxes of several servers", () => {
  test.each<[string, Lists]>([
    ["writes", { write: ["inner"] }],
    ["reads", { read: ["inner"] }],
    ["reads a file", { read: ["inner/file"] }],
  ])("are not nested: one %s in a folder that another may write to", (_, lists) => {
    folder.write("work/inner/file", "");
    expect(refusal(lists, [neighbour("writer", { write: [at("work")] })])).toMatch(
      /^CONFIG_INVALID: FOLDER\/work\/\S+ leads through FOLDER\/work, which the server "writer" may write to/,
    );
    expect(refusal(lists, [neighbour("reader", { read: [at("work")] })])).not.toContain("leads through");
  });

  test("may have the data of another server", () => {
    const data = folder.write("other/data.json", "{}");
    const other = neighbour("other", undefined, { command: "true", args: [at("other"), data], env: { FILE: data } });
    expect(refusal({ write: [at("other")] }, [other])).toBe("");
  });

  test("may share a folder", () => {
    expect(refusal({ write: ["."] }, [neighbour("writer", { write: [at("work")] })])).toBe("");
  });

  test("are refused through a link that another server could change", () => {
    mkdirSync(at("home/shared"));
    symlinkSync(at("home/shared"), at("work/inner/link"));
    symlinkSync(at("work/inner/link"), at("other/link"));
    expect(refusal({ read: [at("other/link")] }, [neighbour("writer", { write: [at("work/inner")] })])).toContain(
      "leads through FOLDER/work/inner",
    );
  });

  test("do not hold the program of another server, with a box or without one", () => {
    const script = folder.write("other/tools/server.js", "");
    const program = folder.write("other/tools/server", "#!/bin/sh\n");
    chmodSync(program, 0o755);
    const entries: Partial<ServerEntry>[] = [
      { command: "node", args: ["--no-warnings", script] },
      { command: program },
      { command: "../other/tools/server" },
      { command: "server", env: { PATH: at("other/tools") } },
      { command: "npx", args: ["-y", "tsx", script] },
      { command: "sh", args: ["-c", `exec node ${script} --port=1`] },
      { command: "node", args: [`--import=${script}`, "/usr/share/server.js"] },
      { command: "true", env: { NODE_OPTIONS: `--require ${script}` } },
      { url: "http://127.0.0.1:1", headersHelper: `${program} --token`, command: undefined } as Partial<ServerEntry>,
    ];
    variables = { ...variables, PATH: "/usr/bin:/bin" };
    for (const entry of entries) {
      const other = neighbour("other", undefined, entry);
      expect(refusal({ write: [at("other")] }, [other])).toContain('which the server "other" starts');
      expect(refusal({ write: ["."] }, [other])).toBe("");
    }
    const boxed = neighbour("boxed", {}, { command: program });
    expect(refusal(boxed, [neighbour("writer", { write: [at("other")] })])).toContain('"writer" may write to');
  });
});

interface ReachScene {
  path?: string;
  writable?: HeldPath[];
  closed?: string[];
}

/** The paths that a program gets. */
function reached(file: string, { path = "", writable = [], closed = [] }: ReachScene = {}): string[] {
  const contents = new Contents(writable, held);
  const places = closed.map((each) => new HeldPath(each));
  held.push(...places);
  const words = { command: "node", args: [at(file)], env: { PATH: "/usr/bin" } };
  const [, script = ""] = startFiles(words, at("work"));
  showPrograms([script], { contents, path, home: at("home"), closed: places });
  return contents.mounts.map((mount) => mount.at);
}

describe("a script", () => {
  test("opens no other folder by the interpreter in its first line", () => {
    folder.write("home/private/pyproject.toml", "");
    const python = folder.write("home/private/bin/python", "");
    folder.write("other/server", `#!${python}\n`);
    expect(reached("other/server", { path: "/usr/bin" })).toEqual([at("other/server")]);
    expect(reached("other/server", { path: at("home/private/bin") })).toEqual([
      at("home/private/bin"),
      at("home/private/pyproject.toml"),
      at("other/server"),
    ]);
  });

  test("has the folder of its package, and not what else is around it", () => {
    for (const name of ["package.json", ".env", "notes/secret", "node_modules/a/index.js", "tools/deep/server.js"]) {
      folder.write(`work/project/${name}`, "");
    }
    const project = (name: string) => at("work/project", name);
    expect(reached("work/project/tools/deep/server.js")).toEqual(
      ["node_modules", "package.json", "tools"].map(project),
    );
    folder.write("work/project/tools/deep/package.json", {});
    expect(reached("work/project/tools/deep/server.js")).toEqual([project("tools/deep")]);
  });

  test.each([
    ["in the folder of a config", "home/.config/claudikins/server.js", "home/.config/claudikins"],
    ["above it", "home/.config/claudikins/server.js", "home/.config"],
    ["around the folder of a config", "home/all/tools/server.js", "home/all/tools"],
  ])("does not show the user's config because of a manifest %s", (_, script, manifest) => {
    const config = folder.write("home/.config/claudikins/claudikins.json", {});
    folder.write(`${manifest}/package.json`, {});
    folder.write(script, "");
    const closed = [at("home/.config/claudikins"), at("home"), config];
    if (script.includes("all")) closed.push(folder.write("home/all/tools/claudikins.json", {}));
    const paths = reached(script, { closed });
    expect(paths).toContain(at(script));
    for (const path of closed) expect(paths.filter((each) => `${path}/`.startsWith(`${each}/`))).toEqual([]);
  });
});

describe("a path", () => {
  test("is followed to the end of its links", () => {
    symlinkSync("other", at("one"));
    symlinkSync(at("one"), at("two"));
    using found = new HeldPath(at("two"));
    expect(found.path).toBe(at("other"));
    expect(found.links.map(({ at: from, to }) => [from, to])).toEqual([
      [at("two"), at("one")],
      [at("one"), at("other")],
    ]);
  });

  test("in a circle leads nowhere", () => {
    symlinkSync(at("b"), at("a"));
    symlinkSync(at("a"), at("b"));
    using found = new HeldPath(at("a"));
    expect(found.id).toBeUndefined();
  });

  test("below a file does not exist", () => {
    folder.write("other/file", "");
    using found = new HeldPath(at("other/file/below"));
    expect(found.id).toBeUndefined();
    expect(found.path).toBe(at("other/file/below"));
  });
});

test("no mount is made inside a writable folder, except for guards and pins", () => {
  const mounts = orderedMounts([
    { at: "/home", kind: "empty" },
    { at: "/home/a/lib", kind: "read" },
    { at: "/home/a", kind: "write" },
    { at: "/home/a/.git/hooks", kind: "guard" },
    { at: "/home/a/.git", kind: "pin" },
    { at: "/home/a/.git", kind: "write" },
    { at: "/home/a/.git/hooks/own", kind: "read" },
    { at: "/home/a/.git/objects", kind: "write" },
    { at: "/home/a-b", kind: "read" },
    { at: "/home/a-b/data", kind: "write" },
    { at: "/home/a-b/lib", kind: "read" },
    { at: "/home", kind: "empty" },
  ]);
  expect(mounts.map(({ kind, at }) => `${kind} ${at}`)).toEqual([
    "empty /home",
    "write /home/a",
    "read /home/a-b",
    "write /home/a-b/data",
    "pin /home/a/.git",
    "guard /home/a/.git/hooks",
  ]);
});

describe("hosts", () => {
  const hosts = ["api.example.com", "*.example.org", "db.internal:5432", "10.0.0.7:5432"];
  const isOpen = (text: string) => {
    const target = targetOf(text);
    return target !== undefined && isListed(target, hosts);
  };

  test.each([
    "api.example.com:443",
    "API.example.com:443",
    "a.example.org:443",
    "a.b.example.org:443",
    "db.internal:5432",
  ])("%s is listed", (text) => expect(isOpen(text)).toBe(true));

  test.each([
    ...["api.example.com:80", "example.org:443", "evil-example.org:443", "api.example.com.:443", "api.example.com"],
    ...["api.example.com:0443x", "[::1]:443", "a@api.example.com:443", "api.example.com\0.example.org:443", ":443"],
    ...[
      "x/api.example.com:443",
      "db.internal:443",
      "-a.example.org:443",
      "a..example.org:443",
      "1.2.3.example.org:70000",
    ],
  ])("%j is not", (text) => expect(isOpen(text)).toBe(false));

  test.each(["127.1:443", "0x7f000001:443", "2130706433:443", "1.2.3:443"])("%s is not accepted as a name", (text) =>
    expect(targetOf(text)).toBeUndefined(),
  );

  test.each(["8.8.8.8", "2606:4700:4700::1111"])("%s is a public address", (address) =>
    expect(mayConnect(address, 443, hosts)).toBe(true),
  );

  test.each([
    ...["127.0.0.1", "10.0.0.7", "172.16.3.4", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1"],
    ...["::1", "::", "fe80::1", "fd00::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "not an address"],
  ])("%s is none", (address) => expect(mayConnect(address, 443, hosts)).toBe(false));

  test("a private address is open if the list names it, with its port", () => {
    expect(mayConnect("10.0.0.7", 5432, hosts)).toBe(true);
  });
});
