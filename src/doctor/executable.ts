/** Doctor check of this executable, and of the one that the PATH finds. */
import { dirname, join } from "node:path";
import { claudikinsName } from "../agents/supported/claudikins-entry.ts";
import { selfCommand } from "../config/self.ts";
import { shellWord } from "../shell-word.ts";
import { version } from "../version.ts";
import { type Check, type Finding, findingsOf, type Scene } from "./finding.ts";
import { isProgram, programsOnPath, realOf, versionOf } from "./programs.ts";

const { ok, warning, problem } = findingsOf("executable");

/** The executable, or the main file of the source. */
export const ownProgram: string = selfCommand().at(-1) ?? "";

export const executableCheck: Check = {
  area: "executable",
  async run(scene) {
    const how = Bun.isStandaloneExecutable ? "" : ", from source";
    const runtime = `Bun ${Bun.version}, ${process.platform} ${process.arch}`;
    return [
      ok("executable.version", `claudikins ${version}${how} (${runtime}): ${ownProgram}`),
      ...(await onPath(scene)),
      ...namedByVariable(scene),
    ];
  },
};

async function onPath({ env, signal }: Scene): Promise<Finding[]> {
  const [first, ...others] = programsOnPath(claudikinsName, env);
  if (first === undefined) {
    const why = "agents' project files, skills and shells cannot find it";
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
function namedByVariable({ env }: Scene): Finding[] {
  const named = env["CLAUDIKINS_EXECUTABLE"];
  if (!named || isProgram(named)) return [];
  const text = `CLAUDIKINS_EXECUTABLE does not name a program: ${named}`;
  return [problem("executable.variable", text, "FILE_NOT_FOUND", "unset CLAUDIKINS_EXECUTABLE")];
}

/** The version of the program; undefined if it is this version. */
async function otherVersion(path: string, env: Scene["env"], signal: AbortSignal): Promise<string | undefined> {
  if (realOf(path) === realOf(ownProgram)) return undefined;
  const said = await versionOf(path, env, signal);
  return said === version ? undefined : (said ?? "unknown version");
}

function intoPath(): string {
  if (Bun.isStandaloneExecutable) return `export PATH=${shellWord(dirname(ownProgram))}:"$PATH"`;
  return `sh ${shellWord(join(dirname(ownProgram), "..", "install.sh"))}`;
}
