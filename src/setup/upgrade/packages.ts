/** Upgrades a global package with the package manager that installed it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";
import { shellWord } from "../../base/shell-word.ts";
import type { Environment } from "../../config/environment.ts";
import { programsOnPath } from "../../config/locations.ts";
import type { Installation, PackageManager } from "./installation.ts";
import { failureOf, runProgram } from "./run.ts";
import { isVersion } from "./versions.ts";

/** Time for a package manager to say which version is the newest. */
const packageViewMs = 60_000;

/** Time for a package manager to install a version. */
const packageInstallMs = 600_000;

type GlobalPackage = Extract<Installation, { kind: "package" }>;

/** The command that installs a version globally. */
export function installCommand(
  { manager, folder }: Pick<GlobalPackage, "manager" | "folder">,
  version: string,
): string[] {
  const wanted = `claudikins@${version}`;
  switch (manager) {
    case "npm":
      return ["npm", "install", "--global", "--prefix", folder, "--no-audit", "--no-fund", wanted];
    case "bun":
      return ["bun", "add", "--global", wanted];
    case "pnpm":
      return ["pnpm", "add", "--global", wanted];
    case "yarn":
      return ["yarn", "global", "add", wanted];
  }
}

/** The command that adds a version to a project, which the user has to run: it changes files that others share. */
export function projectCommand(manager: PackageManager, version: string): string {
  const word = manager === "npm" ? "install" : "add";
  return `${manager} ${word} claudikins@${version}`;
}

const viewCommands: Record<PackageManager, string[]> = {
  npm: ["npm", "view"],
  bun: ["bun", "pm", "view"],
  pnpm: ["pnpm", "view"],
  yarn: ["npm", "view"],
};

/** The manager of the same Node as the package, if there is one. */
function resolved(command: readonly string[], { folder }: Pick<GlobalPackage, "folder">): string[] {
  const [name = "", ...args] = command;
  const beside = join(folder, "bin", name);
  return [existsSync(beside) ? beside : name, ...args];
}

/** The newest version in the registry that the package manager uses, or the wanted one. Throws VERSION_NOT_FOUND, SERVER_UNAVAILABLE. */
export async function findPackage(
  installation: GlobalPackage,
  wanted: string | undefined,
  env: Environment,
  signal: AbortSignal,
): Promise<string> {
  const view = [...viewCommands[installation.manager], `claudikins@${wanted ?? "latest"}`, "version"];
  const ran = await runProgram(resolved(view, installation), { env, signal, timeoutMs: packageViewMs });
  if (signal.aborted) throw new ClaudikinsError("CANCELLED", "Nothing was changed");
  const found = ran.exitCode === 0 ? ran.stdout.match(/\d+\.\d+\.\d+[\w.+-]*/g)?.at(-1) : undefined;
  if (isVersion(found) && (wanted === undefined || found === wanted)) return found;
  const isUnknown =
    ran.exitCode === 0 || /E404|ETARGET|No matching version|not found/i.test(`${ran.stdout}${ran.stderr}`);
  if (wanted !== undefined && isUnknown) {
    throw new ClaudikinsError(
      "VERSION_NOT_FOUND",
      `There is no claudikins ${wanted} in the registry of ${installation.manager}`,
      {
        hint: "Nothing was changed. All versions: npm view claudikins versions",
      },
    );
  }
  throw new ClaudikinsError(
    "SERVER_UNAVAILABLE",
    `${installation.manager} did not name a version of claudikins: ${failureOf(ran)}`,
    { hint: `Nothing was changed. Run it yourself: ${view.map(shellWord).join(" ")}` },
  );
}

/** Throws UPGRADE_FAILED. */
export async function installPackage(
  installation: GlobalPackage,
  version: string,
  env: Environment,
  signal: AbortSignal,
): Promise<void> {
  const command = installCommand(installation, version);
  const ran = await runProgram(resolved(command, installation), { env, signal, timeoutMs: packageInstallMs });
  if (ran.exitCode === 0) return;
  const isForbidden = /EACCES|EPERM|permission denied/i.test(ran.stderr);
  const text = command.map(shellWord).join(" ");
  throw new ClaudikinsError(
    isForbidden ? "FILE_NOT_WRITABLE" : "UPGRADE_FAILED",
    `${installation.manager} could not install claudikins ${version}: ${failureOf(ran)}`,
    { hint: `Run it yourself: ${isForbidden ? "sudo " : ""}${text}` },
  );
}

/** How to start the package that was installed. pnpm gives each version another path, so its launcher is looked for. */
export function installedCommand({ path }: GlobalPackage, env: Environment): string[] {
  if (existsSync(path)) return [path];
  const [launcher] = programsOnPath("claudikins", env);
  return [launcher ?? path];
}
