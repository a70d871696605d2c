/** Peers from the npm registry, installed once in a cache folder of the user. */
import { existsSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Environment = Record<string, string | undefined>;

/** The path of the package's program, which has the name of the package by default. */
export async function installedProgram(
  name: string,
  version: string,
  env: Environment,
  program = name,
): Promise<string> {
  const folder = await installed([`${name}@${version}`], env);
  return join(folder, "node_modules", ".bin", program);
}

/** The folder with these packages, named after the first one. */
export async function installed([main = "", ...more]: string[], env: Environment): Promise<string> {
  const cache = env["XDG_CACHE_HOME"] ?? (env["HOME"] ? join(env["HOME"], ".cache") : tmpdir());
  const folder = join(cache, "claudikins-bench", main.replace(/^@/, "").replace(/[/@]/g, "-"));
  if (existsSync(join(folder, "node_modules"))) return folder;
  mkdirSync(folder, { recursive: true });
  await outputOf(["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", main, ...more], env);
  return folder;
}

/** The output on stdout. Throws an error with the last lines of stderr. `cwd` is the folder of this process by default. */
export async function outputOf(
  command: string[],
  env: Environment = process.env,
  cwd: string = process.cwd(),
): Promise<string> {
  const child = Bun.spawn(command, { env, cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe", timeout: 120_000 });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (child.exitCode === 0) return stdout;
  // The last line of npm only says where its log is.
  const lines = stderr.split("\n").filter((line) => line.trim() !== "" && !line.includes("complete log of this run"));
  throw new Error(`${command.slice(0, 2).join(" ")}: ${lines.at(-1)?.trim() ?? `exit ${child.exitCode}`}`);
}
