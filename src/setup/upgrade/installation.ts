/** Finds out how the running executable was installed, and the command that upgrades it, from its path and from facts in the build. */
import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type BuiltIn, builtIn } from "../../base/built-in.ts";
import { shellWord } from "../../base/shell-word.ts";
import { repository } from "../../base/version.ts";
import { ownPlatform } from "./platforms.ts";

export type PackageManager = "npm" | "bun" | "pnpm" | "yarn";

export type Installation =
  /** A released executable in any folder, as install.sh installs it. */
  | { kind: "script"; path: string }
  /** A global package. For npm, `folder` is the prefix. */
  | { kind: "package"; manager: PackageManager; path: string; folder: string }
  /** A dependency of a project, whose files pin its version. */
  | { kind: "project"; manager: PackageManager; path: string; folder: string }
  /** The cache of a runner such as npx, which fetches the version that its command line names. */
  | { kind: "cache"; runner: Runner; path: string }
  /** An MCP bundle, which the agent has unpacked and replaces. */
  | { kind: "bundle"; path: string }
  /** Built in a checkout, or run from its source. `folder` is the checkout's. */
  | { kind: "checkout"; path: string; folder: string };

export type Runner = "npx" | "bunx" | "pnpm dlx" | "yarn dlx";

/** The folders of runners' caches, and of executables whose path has their version. Agents must not be given such paths. */
const runners: readonly [RegExp, Runner][] = [
  [/\/_npx\//, "npx"],
  [/\/\.?bunx-[^/]*\//, "bunx"],
  [/\/(?:pnpm\/)?dlx\/|\/dlx-[^/]+\/node_modules\/\.pnpm\//, "pnpm dlx"],
  [/\/dlx-\d+\//, "yarn dlx"],
];

/** Folders of global packages: the part of the path before `node_modules`. */
const globals: readonly [RegExp, PackageManager][] = [
  [/\/install\/global$/, "bun"],
  [/\/global\/v?\d+(?:\/[^/]+)?$|\/store\/v\d+\/links\//, "pnpm"],
  [/\/yarn\/(?:Data\/)?global$/i, "yarn"],
];

const lockFiles: readonly [string, PackageManager][] = [
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["package-lock.json", "npm"],
];

/** `path` is the executable without links; from source it is the runtime, and `source` is the checkout. */
export function installationOf(
  path: string,
  built: Pick<BuiltIn, "checkout"> | undefined,
  source: string | undefined,
  exists: (path: string) => boolean = existsSync,
): Installation {
  const checkout = built ? built.checkout : source;
  if (checkout !== null && checkout !== undefined) return { kind: "checkout", path, folder: checkout };
  const plain = path.replaceAll("\\", "/");
  const [before, inPackage] =
    /^(.*?)\/node_modules\/(?:.*\/)?@claudikins\/[^/]+\/bin\/claudikins(?:\.exe)?$/.exec(plain) ?? [];
  if (before === undefined || inPackage === undefined) {
    return { kind: exists(join(dirname(path), "manifest.json")) ? "bundle" : "script", path };
  }
  const [, runner] = runners.find(([form]) => form.test(plain)) ?? [];
  if (runner) return { kind: "cache", runner, path };
  const folder = path.slice(0, inPackage.length);
  const [, manager] = globals.find(([form]) => form.test(inPackage)) ?? [];
  if (manager) return { kind: "package", manager, path, folder };
  // npm's global folder is `<prefix>/lib/node_modules`, on Windows `<prefix>\node_modules`, and no project.
  if (!exists(join(folder, "package.json"))) {
    return { kind: "package", manager: "npm", path, folder: /\/lib$/.test(inPackage) ? dirname(folder) : folder };
  }
  const [, locked] = lockFiles.find(([name]) => exists(join(folder, name))) ?? [];
  return { kind: "project", manager: locked ?? "npm", path, folder };
}

/** Whether the path survives upgrades of claudikins and does not disappear earlier. */
export function isLasting({ kind, ...of }: Installation): boolean {
  // The store of pnpm has the version in each path, and an agent removes its bundles.
  return kind !== "cache" && kind !== "bundle" && !("manager" in of && of.manager === "pnpm");
}

/** Read at the start, because the system may append text to the path once the executable is replaced. */
const ownPath = (() => {
  try {
    return realpathSync.native(process.execPath);
  } catch {
    return process.execPath;
  }
})();

const stampAtStart = stamp();

function stamp(): string | undefined {
  const found = statSync(ownPath, { throwIfNoEntry: false });
  return found && `${found.ino} ${found.size} ${found.mtimeMs}`;
}

/** A path with the bytes of this executable. Undefined if it was replaced since the start, and the system does not have the old one. */
export function ownBytes(): string | undefined {
  if (stampAtStart !== undefined && stamp() === stampAtStart) return ownPath;
  return process.platform === "linux" ? "/proc/self/exe" : undefined;
}

export function ownInstallation(): Installation {
  const source = Bun.isStandaloneExecutable ? undefined : join(import.meta.dir, "..", "..", "..");
  return installationOf(ownPath, builtIn, source);
}

/** An installation that something else manages. */
type Managed = Exclude<Installation, { kind: "script" }>;

/** The command with which a person upgrades an installation that claudikins does not replace itself. `wanted` is not the newest version. */
export function upgradeCommand(installation: Managed, to: string, wanted?: string): string {
  const name = `claudikins@${to}`;
  switch (installation.kind) {
    case "cache":
      return `${installation.runner} ${name}`;
    case "bundle":
      return `download ${repository}/releases/download/v${to}/claudikins-${ownPlatform()?.name}.mcpb, and open it`;
    case "project": {
      const { manager, folder } = installation;
      return `cd ${shellWord(folder)} && ${manager} ${manager === "npm" ? "install" : "add"} ${name}`;
    }
    case "package": {
      const { manager, folder } = installation;
      if (manager === "npm") return `npm install --global --prefix ${shellWord(folder)} ${name}`;
      return manager === "yarn" ? `yarn global add ${name}` : `${manager} add --global ${name}`;
    }
    case "checkout": {
      const { folder } = installation;
      if (!existsSync(folder)) return `curl -fsSL ${repository}/releases/latest/download/install.sh | sh`;
      const git = `git -C ${shellWord(folder)}`;
      const moved =
        wanted === undefined ? `${git} pull --ff-only` : `${git} fetch --tags && ${git} checkout v${wanted}`;
      return `${moved} && sh ${shellWord(`${folder}/install.sh`)}`;
    }
  }
}

/** Why a person has to run that command. */
export function managedText(installation: Managed): string {
  switch (installation.kind) {
    case "cache":
      return `${installation.runner} runs claudikins out of its cache, so there is nothing to replace.`;
    case "project":
      return `This claudikins belongs to the project ${installation.folder}, whose files pin its version for everyone who works on it.`;
    case "bundle":
      return "This claudikins belongs to an extension of your agent, which replaces it.";
    case "package":
      return `This claudikins was installed with ${installation.manager}, which replaces it.`;
    case "checkout":
      return "This claudikins was built in a checkout, which git updates.";
  }
}
