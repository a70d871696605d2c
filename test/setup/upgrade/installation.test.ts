/** How an executable was installed, by its path. */
import { describe, expect, test } from "bun:test";
import {
  type Installation,
  installationOf,
  isLasting,
  upgradeCommand,
} from "../../../src/setup/upgrade/installation.ts";

const released = { checkout: null };
const of = (path: string, ...files: string[]) =>
  installationOf(path, released, undefined, (file) => files.includes(file));
const inPackage = (folder: string) => `${folder}/node_modules/@claudikins/linux-x64/bin/claudikins`;
const inLauncher = (folder: string) => inPackage(`${folder}/node_modules/claudikins`);
const shown = (installation: Installation) => {
  const { kind, ...more } = installation;
  const { manager, folder, runner } = more as Record<string, string>;
  return [kind, manager ?? runner, folder].filter(Boolean).join(" ");
};

describe("an executable", () => {
  test.each([
    ["/home/a/.local/bin/claudikins", "script"],
    ["/opt/tools/claudikins", "script"],
    ["C:\\Users\\a\\bin\\claudikins.exe", "script"],
    // The folder has the name of packages only.
    ["/home/a/node_modules/claudikins", "script"],
    [inLauncher("/usr/local/lib"), "package npm /usr/local"],
    [inPackage("/usr/local/lib"), "package npm /usr/local"],
    [inLauncher("/home/a/.nvm/versions/node/v22.1.0/lib"), "package npm /home/a/.nvm/versions/node/v22.1.0"],
    [inPackage("/home/a/.bun/install/global"), "package bun /home/a/.bun/install/global"],
    [
      inPackage("/home/a/.local/share/pnpm/global/5/.pnpm/@claudikins+linux-x64@0.1.0").replace(
        "/5/",
        "/5/node_modules/",
      ),
      "package pnpm /home/a/.local/share/pnpm/global/5",
    ],
    [
      inPackage("/home/a/.local/share/pnpm/store/v11/links/@claudikins/linux-x64/0.1.0/9fc5"),
      "package pnpm /home/a/.local/share/pnpm/store/v11/links/@claudikins/linux-x64/0.1.0/9fc5",
    ],
    [inPackage("/home/a/.config/yarn/global"), "package yarn /home/a/.config/yarn/global"],
    [inPackage("/home/a/.npm/_npx/0a1b2c"), "cache npx"],
    [inPackage("/tmp/bunx-1000-claudikins@latest"), "cache bunx"],
    [inPackage("/home/a/.bun/install/cache/.bunx-1000/claudikins@latest"), "cache bunx"],
    [
      inPackage("/home/a/.cache/pnpm/dlx/abc/def").replace("/node_modules/", "/node_modules/.pnpm/x/node_modules/"),
      "cache pnpm dlx",
    ],
    [inPackage("/tmp/xfs-1a2b/dlx-4711"), "cache yarn dlx"],
  ])("at %s is %s", (path, expected) => {
    expect(shown(of(path))).toBe(expected);
  });

  test.each([
    ["package-lock.json", "npm"],
    ["bun.lock", "bun"],
    ["pnpm-lock.yaml", "pnpm"],
    ["yarn.lock", "yarn"],
    ["none", "npm"],
  ])("in a project with %s is upgraded there with %s", (lock, manager) => {
    expect(shown(of(inPackage("/work/shop"), "/work/shop/package.json", `/work/shop/${lock}`))).toBe(
      `project ${manager} /work/shop`,
    );
  });

  test("beside the manifest of an MCP bundle belongs to the agent", () => {
    const folder = "/home/a/Library/Application Support/Claude/Claude Extensions/claudikins";
    const bundle = of(`${folder}/claudikins`, `${folder}/manifest.json`);
    expect([bundle.kind, isLasting(bundle)]).toEqual(["bundle", false]);
  });

  test("is one of a checkout if the build says so, wherever it is", () => {
    const built = { checkout: "/home/a/claudikins" };
    expect(shown(installationOf("/home/a/.local/bin/claudikins", built, undefined))).toBe(
      "checkout /home/a/claudikins",
    );
    expect(shown(installationOf("/usr/bin/bun", undefined, "/work/claudikins"))).toBe("checkout /work/claudikins");
  });
});

test("paths of caches, and paths with a version, do not last", () => {
  const lasting = (path: string) => isLasting(of(path));
  expect(lasting("/home/a/.local/bin/claudikins")).toBe(true);
  expect(lasting(inLauncher("/usr/local/lib"))).toBe(true);
  expect(lasting(inPackage("/home/a/.npm/_npx/0a1b2c"))).toBe(false);
  expect(lasting(inPackage("/home/a/.local/share/pnpm/global/5/node_modules/.pnpm/@claudikins+linux-x64@0.1.0"))).toBe(
    false,
  );
});

describe("the printed command", () => {
  const path = "/usr/local/claudikins";

  test.each([
    ["npm", "npm install --global --prefix /usr/local claudikins@0.2.0"],
    ["bun", "bun add --global claudikins@0.2.0"],
    ["pnpm", "pnpm add --global claudikins@0.2.0"],
    ["yarn", "yarn global add claudikins@0.2.0"],
  ] as const)("uses the words of %s for a global package", (manager, command) => {
    expect(upgradeCommand({ kind: "package", manager, path, folder: "/usr/local" }, "0.2.0")).toBe(command);
  });

  test("runs in the folder of a project", () => {
    const of = (manager: "npm" | "pnpm") =>
      upgradeCommand({ kind: "project", manager, path, folder: "/home/a/my shop" }, "0.2.0");
    expect(of("npm")).toBe("cd '/home/a/my shop' && npm install claudikins@0.2.0");
    expect(of("pnpm")).toBe("cd '/home/a/my shop' && pnpm add claudikins@0.2.0");
  });

  test("moves a checkout to the newest commit or to the wanted tag, and installs a release if the checkout is gone", () => {
    const own = { kind: "checkout", path, folder: "/usr" } as const;
    expect(upgradeCommand(own, "0.2.0")).toBe("git -C /usr pull --ff-only && sh /usr/install.sh");
    expect(upgradeCommand(own, "0.2.0", "0.2.0")).toBe(
      "git -C /usr fetch --tags && git -C /usr checkout v0.2.0 && sh /usr/install.sh",
    );
    expect(upgradeCommand({ ...own, folder: "/gone" }, "0.2.0")).toStartWith("curl -fsSL https://");
  });
});
