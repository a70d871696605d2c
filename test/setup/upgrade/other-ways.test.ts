/** Upgrades with a package manager and in a checkout, with small programs in the place of npm, and with the real git. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { programFormat } from "../../../src/base/program-format.ts";
import { Checkout } from "../../../src/setup/upgrade/checkout.ts";
import { findVersion, type Replaceable, type Upgrade, upgrade } from "../../../src/setup/upgrade/upgrade.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { testEnvironment } from "../../support/process.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
let env: Record<string, string>;
beforeEach(() => {
  const home = join(folder.path, "home");
  mkdirSync(home);
  env = testEnvironment({ HOME: home, XDG_DATA_HOME: join(home, "data"), XDG_CONFIG_HOME: home });
});

/** What the self-check of a version does. */
const passes = (version: string, format = programFormat) =>
  `echo '{"version":"${version}","engine":"${version} ${format}","unreadable":[]}'`;

/** A program that answers like claudikins of this version. */
const program = (version: string, selfCheck = passes(version)) =>
  `#!/bin/sh\ncase $1 in --version) echo ${version} ;; self-check) ${selfCheck} ;; esac\n`;

function write(name: string, text: string): string {
  const path = folder.write(name, text);
  chmodSync(path, 0o755);
  return path;
}

const signal = new AbortController().signal;
const upgradeTo = (to: string, installation: Replaceable, more: Partial<Upgrade> = {}) =>
  upgrade({ installation, from: "0.1.0", to, env, signal, onStep() {}, ...more });
const versionAt = (path: string) => Bun.spawnSync([path, "--version"]).stdout.toString().trim();

describe("a global package of npm", () => {
  let installation: Extract<Replaceable, { kind: "package" }>;
  let calls: string;
  beforeEach(() => {
    const prefix = join(folder.path, "prefix");
    const own = "prefix/lib/node_modules/claudikins/node_modules/@claudikins/linux-x64/bin/claudikins";
    const path = write(own, program("0.1.0"));
    calls = join(folder.path, "calls");
    // 0.3.0 does not work, and 0.4.0 has another format of saved programs. It removes a package before it unpacks the next one.
    write("versions/0.1.0", program("0.1.0"));
    write("versions/0.2.0", program("0.2.0"));
    write("versions/0.3.0", program("0.3.0", "exit 9"));
    write("versions/0.4.0", program("0.4.0", passes("0.4.0", programFormat + 1)));
    write(
      "prefix/bin/npm",
      `#!/bin/sh
echo "$*" >> ${calls}
for last; do :; done
case $1 in
  view)
    case $2 in
      claudikins@latest) echo 0.2.0 ;;
      *) test -f ${folder.path}/versions/\${2#claudikins@} || { echo 'npm error code E404' >&2; exit 1; }; echo \${2#claudikins@} ;;
    esac ;;
  install)
    rm -f ${path}
    test ! -e ${folder.path}/fails || { echo 'npm error code EACCES' >&2; exit 243; }
    cp ${folder.path}/versions/\${last#claudikins@} ${path} ;;
esac
`,
    );
    installation = { kind: "package", manager: "npm", path, folder: prefix };
  });

  test("is upgraded with the npm of its prefix", async () => {
    expect(await findVersion(installation, undefined, env, signal)).toBe("0.2.0");
    expect(await upgradeTo("0.2.0", installation)).toEqual({ kept: undefined });
    expect(versionAt(installation.path)).toBe("0.2.0");
    expect(readFileSync(calls, "utf8")).toBe(
      `view claudikins@latest version\ninstall --global --prefix ${installation.folder} --no-audit --no-fund claudikins@0.2.0\n`,
    );
  });

  test("keeps the old executable if the new one cannot continue its programs", async () => {
    const { kept } = await upgradeTo("0.4.0", installation);
    expect(versionAt(kept!)).toBe("0.1.0");
  });

  test("comes back in exactly the old version if the new one does not work", async () => {
    await expect(upgradeTo("0.3.0", installation)).rejects.toThrow(
      expect.objectContaining({
        code: "UPGRADE_FAILED",
        message: "claudikins 0.3.0 does not work on this machine: its self-check failed: it ended with exit code 9",
        hint: expect.stringContaining("claudikins 0.1.0 is back. "),
      }) as never,
    );
    expect(versionAt(installation.path)).toBe("0.1.0");
    expect(existsSync(join(env["XDG_DATA_HOME"]!, "claudikins", "executables"))).toBe(false);
  });

  test("names the command with sudo if npm may not write, and says that the old version could not be brought back", async () => {
    folder.write("fails", "");
    await expect(upgradeTo("0.2.0", installation)).rejects.toThrow(
      expect.objectContaining({
        message: expect.stringContaining(
          "npm could not install claudikins 0.2.0: it ended with exit code 243: npm error code EACCES",
        ),
        hint: expect.stringContaining(`sudo npm install --global --prefix ${installation.folder}`),
      }) as never,
    );
  });

  test("has no version that the registry does not have", async () => {
    await expect(findVersion(installation, "0.9.0", env, signal)).rejects.toThrow(
      expect.objectContaining({ code: "VERSION_NOT_FOUND" }) as never,
    );
  });

  test("cannot be asked for without npm", async () => {
    const none = { ...installation, folder: folder.path };
    await expect(findVersion(none, undefined, { PATH: "/nowhere" }, signal)).rejects.toThrow(
      expect.objectContaining({
        code: "SERVER_UNAVAILABLE",
        message: expect.stringContaining("npm did not name a version"),
      }) as never,
    );
  });
});

describe("a checkout", () => {
  let checkout: string;
  let installation: Extract<Replaceable, { kind: "checkout" }>;
  const git = (where: string, ...args: string[]) => {
    const identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
    const ran = Bun.spawnSync(["git", ...identity, "-C", where, ...args], {
      env: { ...env, GIT_CONFIG_NOSYSTEM: "1" },
    });
    if (!ran.success) throw new Error(ran.stderr.toString());
    return ran.stdout.toString().trim();
  };
  /** A commit whose install.sh installs this version. */
  const commit = (origin: string, version: string, installer = `cp program "$CLAUDIKINS_INSTALL/claudikins"`) => {
    write(`${origin}/program`, program(version));
    write(
      `${origin}/install.sh`,
      `#!/bin/sh\ncd "$(dirname "$0")"\nrm -f "$CLAUDIKINS_INSTALL/claudikins"\n${installer}\n`,
    );
    const path = join(folder.path, origin);
    git(path, "add", ".");
    git(path, "commit", "-q", "-m", version);
    git(path, "tag", `v${version}`);
  };
  beforeEach(() => {
    const origin = join(folder.path, "origin");
    mkdirSync(origin);
    git(origin, "init", "-q");
    commit("origin", "0.1.0");
    checkout = join(folder.path, "checkout");
    git(folder.path, "clone", "-q", origin, checkout);
    commit("origin", "0.2.0");
    commit("origin", "0.10.0-rc.1");
    git(origin, "reset", "-q", "--hard", "v0.2.0");
    const path = write("bin/claudikins", program("0.1.0"));
    installation = { kind: "checkout", path, folder: checkout };
  });
  const head = () => git(checkout, "describe", "--tags");

  test("moves to the newest release and installs it to the same folder", async () => {
    expect(await new Checkout(checkout, env, signal).find(undefined)).toBe("0.2.0");
    await upgradeTo("0.2.0", installation);
    expect([versionAt(installation.path), head()]).toEqual(["0.2.0", "v0.2.0"]);
    expect(readdirSync(dirname(installation.path))).toEqual(["claudikins"]);
  });

  test.each([
    ["local changes", "has local changes", () => write("checkout/program", "mine")],
    [
      "another branch",
      "is on the branch mine, and releases are made from main",
      () => git(checkout, "switch", "-q", "-c", "mine"),
    ],
    ["no branch", "is at no branch, and releases are made from main", () => git(checkout, "switch", "-q", "--detach")],
    [
      "own commits",
      "has commits that v0.2.0 does not have",
      () => git(checkout, "commit", "-q", "--allow-empty", "-m", "mine"),
    ],
  ])("with %s is refused and not touched", async (_, why, change) => {
    change();
    const before = git(checkout, "rev-parse", "HEAD");
    await new Checkout(checkout, env, signal).find(undefined);
    await expect(upgradeTo("0.2.0", installation)).rejects.toThrow(
      expect.objectContaining({
        code: "UPGRADE_FAILED",
        message: `The checkout ${checkout} ${why}`,
        hint: expect.stringContaining("Nothing was changed."),
      }) as never,
    );
    expect([versionAt(installation.path), git(checkout, "rev-parse", "HEAD")]).toEqual(["0.1.0", before]);
  });

  test("goes back to the commit and the executable from before if the new version does not work", async () => {
    commit(
      "origin",
      "0.3.0",
      `echo '#!/bin/sh' > "$CLAUDIKINS_INSTALL/claudikins"; chmod +x "$CLAUDIKINS_INSTALL/claudikins"`,
    );
    await new Checkout(checkout, env, signal).find(undefined);
    await expect(upgradeTo("0.3.0", installation)).rejects.toThrow(
      expect.objectContaining({
        code: "UPGRADE_FAILED",
        hint: expect.stringContaining("claudikins 0.1.0 is back."),
      }) as never,
    );
    expect([versionAt(installation.path), head()]).toEqual(["0.1.0", "v0.1.0"]);
  });

  test("goes back if install.sh fails", async () => {
    commit("origin", "0.3.0", "echo 'error: no Bun' >&2; exit 1");
    await new Checkout(checkout, env, signal).find(undefined);
    await expect(upgradeTo("0.3.0", installation)).rejects.toThrow(
      "install.sh failed: it ended with exit code 1: error: no Bun",
    );
    expect([versionAt(installation.path), head()]).toEqual(["0.1.0", "v0.1.0"]);
  });

  test("has no version without a tag, and needs its remote", async () => {
    await expect(new Checkout(checkout, env, signal).find("0.9.0")).rejects.toThrow("There is no tag v0.9.0");
    git(checkout, "remote", "set-url", "origin", join(folder.path, "gone"));
    await expect(new Checkout(checkout, env, signal).find(undefined)).rejects.toThrow(
      "git could not fetch the releases",
    );
  });
});
