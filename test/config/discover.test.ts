/** Which config file counts: the one that is named, the nearest one upwards, the user's, or none. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { discoverConfig } from "../../src/config/discover.ts";
import { ClaudikinsError } from "../../src/errors.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

let folder: TemporaryFolder;
let home: string;
/** A project below the home folder; it exists, with nothing in it. */
let cwd: string;

beforeEach(() => {
  folder = temporaryFolder();
  home = join(folder.path, "home");
  cwd = join(home, "code", "project");
  mkdirSync(cwd, { recursive: true });
});
afterEach(() => folder[Symbol.dispose]());

const discover = (env: Record<string, string> = {}, flag?: string) =>
  discoverConfig({ flag, cwd, env: { HOME: home, ...env } });

function refusal(look: () => unknown): { code: string; message: string; hint: string | undefined } {
  try {
    look();
  } catch (error) {
    if (!(error instanceof ClaudikinsError)) throw error;
    const { code, message, hint } = error;
    return { code, message: message.replaceAll(folder.path, "TMP"), hint };
  }
  throw new Error("nothing was thrown");
}

describe("not named", () => {
  test("no file anywhere: the demo", () => {
    expect(discover()).toEqual({ kind: "demo" });
  });

  test("the nearest file upwards wins over those above it and over the user's", () => {
    folder.write("claudikins.json", {});
    folder.write("home/.config/claudikins/claudikins.json", {});
    const above = folder.write("home/code/claudikins.json", {});
    expect(discover()).toEqual({ kind: "project", file: above });
    const nearest = folder.write("home/code/project/claudikins.json", {});
    expect(discover()).toEqual({ kind: "project", file: nearest });
  });

  test("a project file above the home folder counts", () => {
    const file = folder.write("claudikins.json", {});
    expect(discover()).toEqual({ kind: "project", file });
  });

  test("the user's file below XDG_CONFIG_HOME, or ~/.config where that is not set, empty or relative", () => {
    const standard = folder.write("home/.config/claudikins/claudikins.json", {});
    const chosen = folder.write("xdg/claudikins/claudikins.json", {});
    expect(discover({ XDG_CONFIG_HOME: join(folder.path, "xdg") })).toEqual({ kind: "user", file: chosen });
    expect(discover()).toEqual({ kind: "user", file: standard });
    expect(discover({ XDG_CONFIG_HOME: "" })).toEqual({ kind: "user", file: standard });
    expect(discover({ XDG_CONFIG_HOME: "xdg" })).toEqual({ kind: "user", file: standard });
  });

  test("the user's file is the user's, also from within its folder", () => {
    const file = folder.write("home/.config/claudikins/claudikins.json", {});
    cwd = join(home, ".config", "claudikins");
    expect(discover()).toEqual({ kind: "user", file });
  });

  test("a folder of that name, and a link to nowhere or to itself, are passed by", () => {
    mkdirSync(join(cwd, "claudikins.json"));
    symlinkSync(join(home, "code", "claudikins.json"), join(home, "code", "claudikins.json"));
    symlinkSync(join(home, "nothing"), join(home, "claudikins.json"));
    expect(discover()).toEqual({ kind: "demo" });
  });

  test("a working directory that is gone is no error", () => {
    cwd = join(folder.path, "gone");
    expect(discover()).toEqual({ kind: "demo" });
  });
});

describe("named", () => {
  beforeEach(() => {
    folder.write("home/code/project/claudikins.json", {});
  });

  test("--config, then CLAUDIKINS_CONFIG, both relative to the working directory; empty means not set", () => {
    const flagged = folder.write("home/code/project/a.json", {});
    const set = folder.write("home/code/b.json", {});
    expect(discover({ CLAUDIKINS_CONFIG: "../b.json" }, "a.json")).toEqual({ kind: "project", file: flagged });
    expect(discover({ CLAUDIKINS_CONFIG: "../b.json" })).toEqual({ kind: "project", file: set });
    expect(discover({ CLAUDIKINS_CONFIG: set })).toEqual({ kind: "project", file: set });
    expect(discover({ CLAUDIKINS_CONFIG: "" })).toEqual({ kind: "project", file: join(cwd, "claudikins.json") });
  });

  test("the user's own file stays the user's when it is named", () => {
    const file = folder.write("home/.config/claudikins/claudikins.json", {});
    expect(discover({}, file)).toEqual({ kind: "user", file });
  });

  test("one that does not exist is an error, whatever else there is", () => {
    expect(refusal(() => discover({}, "nope.json"))).toEqual({
      code: "CONFIG_NOT_FOUND",
      message: "No config file at TMP/home/code/project/nope.json",
      hint: "Create the file, or remove --config.",
    });
    expect(refusal(() => discover({ CLAUDIKINS_CONFIG: "/nope/x.json" }))).toEqual({
      code: "CONFIG_NOT_FOUND",
      message: "No config file at /nope/x.json",
      hint: "Create the file, or remove CLAUDIKINS_CONFIG.",
    });
  });
});
