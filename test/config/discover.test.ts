/** Which config file counts: the one that is named, the nearest one upwards, the user's, or none. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ClaudikinsError } from "../../src/base/errors.ts";
import { discoverConfig } from "../../src/config/discover.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

let folder: TemporaryFolder;
let home: string;
/** An empty project below the home folder. */
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

describe("a config that is not named", () => {
  test("without any file, the demo is used", () => {
    expect(discover()).toEqual({ kind: "demo" });
  });

  test("the nearest file has precedence over files further up and over the user's", () => {
    folder.write("claudikins.json", {});
    folder.write("home/.config/claudikins/claudikins.json", {});
    const above = folder.write("home/code/claudikins.json", {});
    expect(discover()).toEqual({ kind: "project", file: above });
    const nearest = folder.write("home/code/project/claudikins.json", {});
    expect(discover()).toEqual({ kind: "project", file: nearest });
  });

  test("a project file above the home folder is used", () => {
    const file = folder.write("claudikins.json", {});
    expect(discover()).toEqual({ kind: "project", file });
  });

  test("the user's file is below XDG_CONFIG_HOME, or below ~/.config if that is unset, empty or relative", () => {
    const standard = folder.write("home/.config/claudikins/claudikins.json", {});
    const chosen = folder.write("xdg/claudikins/claudikins.json", {});
    expect(discover({ XDG_CONFIG_HOME: join(folder.path, "xdg") })).toEqual({ kind: "user", file: chosen });
    expect(discover()).toEqual({ kind: "user", file: standard });
    expect(discover({ XDG_CONFIG_HOME: "" })).toEqual({ kind: "user", file: standard });
    expect(discover({ XDG_CONFIG_HOME: "xdg" })).toEqual({ kind: "user", file: standard });
  });

  test("the user's file is not a project's file, even in its own folder", () => {
    const file = folder.write("home/.config/claudikins/claudikins.json", {});
    cwd = join(home, ".config", "claudikins");
    expect(discover()).toEqual({ kind: "user", file });
  });

  test("folders, broken links and circular links with the name of the file are skipped", () => {
    mkdirSync(join(cwd, "claudikins.json"));
    symlinkSync(join(home, "code", "claudikins.json"), join(home, "code", "claudikins.json"));
    symlinkSync(join(home, "nothing"), join(home, "claudikins.json"));
    expect(discover()).toEqual({ kind: "demo" });
  });

  test("a working directory that was deleted is not an error", () => {
    cwd = join(folder.path, "gone");
    expect(discover()).toEqual({ kind: "demo" });
  });
});

describe("a config that is named", () => {
  beforeEach(() => {
    folder.write("home/code/project/claudikins.json", {});
  });

  test("--config has precedence over CLAUDIKINS_CONFIG; both are relative to the working directory, and an empty value means unset", () => {
    const flagged = folder.write("home/code/project/a.json", {});
    const set = folder.write("home/code/b.json", {});
    expect(discover({ CLAUDIKINS_CONFIG: "../b.json" }, "a.json")).toEqual({ kind: "project", file: flagged });
    expect(discover({ CLAUDIKINS_CONFIG: "../b.json" })).toEqual({ kind: "project", file: set });
    expect(discover({ CLAUDIKINS_CONFIG: set })).toEqual({ kind: "project", file: set });
    expect(discover({ CLAUDIKINS_CONFIG: "" })).toEqual({ kind: "project", file: join(cwd, "claudikins.json") });
  });

  test("the user's file is still the user's if it is named", () => {
    const file = folder.write("home/.config/claudikins/claudikins.json", {});
    expect(discover({}, file)).toEqual({ kind: "user", file });
  });

  test("a named file that does not exist is an error, even if another config exists", () => {
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
