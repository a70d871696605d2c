/** What a box shows: the paths of an entry, the order of mounts, and the hosts that its proxy connects to. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { ClaudikinsError } from "../../../src/base/errors.ts";
import { isListed, mayConnect, targetOf } from "../../../src/servers/box/allowed-hosts.ts";
import { openPaths } from "../../../src/servers/box/lists.ts";
import { orderedMounts } from "../../../src/servers/box/mounts.ts";
import { followed } from "../../../src/servers/box/paths.ts";
import { Reach } from "../../../src/servers/box/programs.ts";
import { diskFolder, type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder(diskFolder);
  for (const name of ["home/.local/share/claudikins", "work/inner", "other"]) {
    mkdirSync(join(folder.path, name), { recursive: true });
  }
});
afterEach(() => folder[Symbol.dispose]());

const at = (...names: string[]) => join(folder.path, ...names);
const surroundings = () => ({ cwd: at("work"), env: { HOME: at("home") } });

function refusal(lists: { read?: string[]; write?: string[] }): string {
  try {
    openPaths({ read: [], write: [], network: false, ...lists }, surroundings());
    return "";
  } catch (error) {
    const { code, message } = error as ClaudikinsError;
    return `${code}: ${message}`.replaceAll(folder.path, "FOLDER").replace("its sandbox cannot be made: ", "");
  }
}

describe("the paths of an entry", () => {
  test("start at the working directory or the home folder", () => {
    const box = { read: ["~/notes", "~/missing"], write: [".", at("other")], network: false };
    mkdirSync(at("home/notes"));
    expect(openPaths(box, surroundings())).toEqual({
      read: [at("home/notes")],
      write: [at("work"), at("other")],
      writable: [at("work"), at("other")],
    });
  });

  test.each([
    [{ write: ["~"] }, "CONFIG_INVALID: FOLDER/home holds everything in FOLDER/home"],
    [{ read: ["/"] }, "CONFIG_INVALID: / holds everything in FOLDER/home"],
    [{ write: ["/tmp"] }, /^CONFIG_INVALID: \/tmp holds everything in /],
    [{ read: ["~/.local/share"] }, /gives access to files of claudikins in FOLDER\/home\/.local\/share\/claudikins$/],
    [{ read: ["~/.local/share/claudikins"] }, /gives access to files of claudikins/],
    [{ write: ["missing"] }, "CONFIG_INVALID: FOLDER/work/missing does not exist"],
    [{ write: [""] }, "CONFIG_INVALID: one of its paths is empty"],
    [{ write: ["."], read: ["inner"] }, /^CONFIG_INVALID: FOLDER\/work\/inner leads through FOLDER\/work, which/],
    [{ write: [".", "inner"] }, /^CONFIG_INVALID: FOLDER\/work\/inner leads through FOLDER\/work, which/],
  ])("refuses %j", (lists, expected) => {
    expect(refusal(lists)).toMatch(expected);
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
    const scene = { env: {}, cwd: at("work"), home: at("home") };
    const reached = (writable: string[]) => {
      const reach = new Reach({ ...scene, writable });
      reach.command(at("work/node_modules/.bin/server"), []);
      return reach.mounts.map((mount) => mount.at);
    };
    expect(reached([])).toContain(at("home/secret"));
    expect(reached([at("work")])).toEqual([]);
  });
});

test("a script opens no other folder by the interpreter in its first line", () => {
  folder.write("home/private/pyproject.toml", "");
  const python = folder.write("home/private/bin/python", "");
  const script = folder.write("other/server", `#!${python}\n`);
  const reached = (path: string) => {
    const reach = new Reach({ env: { PATH: path }, cwd: at("work"), home: at("home"), writable: [] });
    reach.command(script, []);
    return reach.mounts.map((mount) => mount.at);
  };
  expect(reached("/usr/bin")).toEqual([script]);
  expect(reached(at("home/private/bin"))).toEqual([script, at("home/private")]);
});

describe("links", () => {
  test("are followed to the end", () => {
    symlinkSync("other", at("one"));
    symlinkSync(at("one"), at("two"));
    expect(followed(at("two"))).toEqual({
      real: at("other"),
      links: [
        { at: at("two"), to: at("one") },
        { at: at("one"), to: at("other") },
      ],
    });
  });

  test("in a circle lead nowhere", () => {
    symlinkSync(at("b"), at("a"));
    symlinkSync(at("a"), at("b"));
    expect(followed(at("a"))).toBeUndefined();
  });
});

test("no mount is made inside a writable folder", () => {
  const mounts = orderedMounts([
    { at: "/home", kind: "empty" },
    { at: "/home/a/lib", kind: "read" },
    { at: "/home/a", kind: "write" },
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
