/** Installs the server of a plan with npm, in the version of the plan. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Plan, Start } from "./plan.ts";

/** Installs the server in the folder. Returns how it is started. `env` is npm's environment. */
export function install(
  { package: name, overrides = {}, rebuild = [] }: Plan,
  folder: string,
  env: Record<string, string | undefined> = process.env,
): Start {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, overrides }));
  run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", name], folder, env);
  if (rebuild.length > 0) run(["npm", "rebuild", ...rebuild], folder, env);
  const bare = name.replace(/(?<=.)@.*$/, "");
  const { bin } = JSON.parse(readFileSync(join(folder, "node_modules", bare, "package.json"), "utf8"));
  const path = typeof bin === "string" ? bin : String(Object.values(bin)[0]);
  return { command: "node", args: [join(folder, "node_modules", bare, path)] };
}

/** Throws an error with the program's error output if it fails. */
export function run(command: string[], cwd: string, env: Record<string, string | undefined> = process.env): void {
  const { exitCode, stderr } = Bun.spawnSync(command, { cwd, env });
  if (exitCode !== 0) throw new Error(`${command.join(" ")} failed:\n${stderr}`);
}
