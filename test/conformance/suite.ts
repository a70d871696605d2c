/** The MCP conformance suite as a program, and its failed checks. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { root } from "../support/claudikins.ts";
import { runProgram } from "../support/process.ts";

const packageFile = createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json");
const suite = [process.execPath, join(dirname(packageFile), "dist", "index.js")];

export interface Check {
  id: string;
  status: "SUCCESS" | "FAILURE" | "WARNING" | "INFO" | "SKIPPED";
  description: string;
  errorMessage?: string;
}

/** Warnings that do not concern us, by the name of their check. */
const tolerated: Record<string, string> = {
  "client-sse-retry-timing": "It is given for coming late, and a busy machine is late; coming early is a failure.",
};

export const runSuite = (...args: string[]) => runProgram([...suite, ...args], { cwd: root });

/** All scenarios of the suite for one side. */
export async function scenariosFor(side: "client" | "server"): Promise<string[]> {
  const { stdout } = await runSuite("list");
  const [, list = ""] = stdout.split(side === "client" ? "Client scenarios" : "Server scenarios");
  const [own = ""] = list.split(/\n\n/);
  return [...own.matchAll(/^ {2}- (\S+)/gm)].map(([, name = ""]) => name);
}

/** The checks in the files below a folder. */
export async function checksIn(folder: string): Promise<Check[]> {
  const files = [...new Bun.Glob("**/checks.json").scanSync(folder)];
  return (await Promise.all(files.map((file) => Bun.file(join(folder, file)).json()))).flat() as Check[];
}

/** One line for each failed check. */
export function failuresIn(checks: readonly Check[]): string[] {
  return checks
    .filter(({ id, status }) => status === "FAILURE" || (status === "WARNING" && tolerated[id] === undefined))
    .map(({ id, status, description, errorMessage }) => `${status} ${id}: ${errorMessage ?? description}`);
}
