/** Doctor check of this executable, and of the ones that the PATH finds. Asks any program for its version. */
import { dirname, join } from "node:path";
import { builtIn } from "../../base/built-in.ts";
import { inShell, shellWord } from "../../base/shell-word.ts";
import { version } from "../../base/version.ts";
import type { Environment } from "../../config/environment.ts";
import { isProgram, programsOnPath, realOf } from "../../config/locations.ts";
import { selfCommand } from "../../config/self.ts";
import { claudikinsName } from "../../setup/agents/supported/claudikins-entry.ts";
import { readSeen } from "../../setup/upgrade/hint.ts";
import { compareVersions } from "../../setup/upgrade/versions.ts";
import { type CheckContext, type Finding, findingsOf } from "./finding.ts";
import { unreadableStores } from "./unreadable-stores.ts";

/** Time for a program to say its version. */
const versionAnswerMs = 5_000;

const { ok, warning, problem } = findingsOf("executable");

/** The executable, or the main file of the source. */
export const ownProgram: string = selfCommand().at(-1) ?? "";

export async function executableFindings(scene: CheckContext): Promise<Finding[]> {
  const how = Bun.isStandaloneExecutable ? "" : ", from source";
  const runtime = `Bun ${Bun.version}, ${process.platform} ${process.arch}`;
  return [
    ok("executable.version", `claudikins ${version}${how} (${runtime}): ${ownProgram}`),
    ...newerVersion(scene.env),
    ...(await tooOldFor(scene.env)),
    ...(await onPath(scene)),
    ...namedByVariable(scene),
  ];
}

/** The result of the last check for the hint. Doctor itself does not ask the network. */
function newerVersion(env: Environment): Finding[] {
  const { latest } = readSeen(env);
  if (builtIn?.checkout !== null || latest === undefined || compareVersions(latest, version) <= 0) return [];
  return [warning("executable.newer", `There is a newer version: ${latest}`, "claudikins upgrade")];
}

async function tooOldFor(env: Environment): Promise<Finding[]> {
  const data = await unreadableStores(env);
  if (data.length === 0) return [];
  const text = `claudikins ${version} is too old for ${data.join(" and ")}, which a newer version has written`;
  return [problem("executable.data", text, "VERSION_TOO_OLD", "claudikins upgrade")];
}

async function onPath({ env, signal }: CheckContext): Promise<Finding[]> {
  const [first, ...others] = programsOnPath(claudikinsName, env);
  if (first === undefined) {
    const why = "agents' project files, skills, generated files and shells cannot find it";
    return [warning("executable.path", `claudikins is not on the PATH: ${why}`, intoPath())];
  }
  const versions = await Promise.all([first, ...others].map((path) => otherVersion(path, env, signal)));
  const behind = others.flatMap((path, place): Finding[] => {
    const other = versions[place + 1];
    if (other === undefined) return [];
    const text = `Another claudikins (${other}) comes later on the PATH: ${path}`;
    return [warning("executable.others", text, `If you do not need it: rm ${shellWord(path)}`)];
  });
  if (versions[0] !== undefined) {
    const text = `Another claudikins (${versions[0]}) comes first on the PATH: ${first}`;
    return [warning("executable.path", text, intoPath()), ...behind];
  }
  const isThis = realOf(first) === realOf(ownProgram);
  return [ok("executable.path", `On the PATH: ${first}${isThis ? "" : " (the same version)"}`), ...behind];
}

/** Checks CLAUDIKINS_EXECUTABLE, which generated files use first. */
function namedByVariable({ env }: CheckContext): Finding[] {
  const named = env["CLAUDIKINS_EXECUTABLE"];
  if (!named || isProgram(named)) return [];
  const unset = inShell("unset CLAUDIKINS_EXECUTABLE", "Remove-Item Env:CLAUDIKINS_EXECUTABLE");
  const text = `CLAUDIKINS_EXECUTABLE does not name a program: ${named}`;
  return [problem("executable.variable", text, "FILE_NOT_FOUND", unset)];
}

/** The version of the program; undefined if it is this version. */
async function otherVersion(path: string, env: Environment, signal: AbortSignal): Promise<string | undefined> {
  if (realOf(path) === realOf(ownProgram)) return undefined;
  const said = await versionOf(path, env, signal);
  return said === version ? undefined : (said ?? "unknown version");
}

function intoPath(): string {
  const folder = dirname(ownProgram);
  const forUser = `[Environment]::GetEnvironmentVariable('Path', 'User') + ${shellWord(`;${folder}`)}`;
  const powerShell = `[Environment]::SetEnvironmentVariable('Path', ${forUser}, 'User')`;
  if (Bun.isStandaloneExecutable) return inShell(`export PATH=${shellWord(folder)}:"$PATH"`, powerShell);
  return `sh ${shellWord(join(folder, "..", "install.sh"))}`;
}

/** Starts the program with `--version`. Undefined if it prints no version. */
export async function versionOf(program: string, env: Environment, signal: AbortSignal): Promise<string | undefined> {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(versionAnswerMs)]);
  if (patience.aborted) return undefined;
  try {
    const child = Bun.spawn([program, "--version"], {
      // Some programs read settings from the working directory first.
      cwd: "/",
      env: { ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
      windowsHide: true,
      signal: patience,
      killSignal: "SIGKILL",
    });
    const reader = child.stdout.getReader();
    // A version fits into the first chunk.
    const { value } = await reader.read();
    await reader.cancel();
    child.kill("SIGKILL");
    await child.exited;
    return /\d+\.\d+\.\d+[\w.+-]*/.exec(new TextDecoder().decode(value))?.[0];
  } catch {
    return undefined;
  }
}
