/** The MCP conformance suite as a program: what a revision requires, and the failed checks of a run. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { cachedBuild, hashOf, root } from "../support/claudikins.ts";
import { runProgram } from "../support/process.ts";

/** The folder of its package. */
export const installed = dirname(
  createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json"),
);

/** Each scenario is a process, which starts with 160 ms of CPU from bytecode, and with 480 from the package. */
function suite(): string[] {
  const name = `conformance-${hashOf("bun.lock", "test/conformance/bundle-suite.ts")}`;
  const bundle = cachedBuild(name, (outdir) => [join(import.meta.dir, "bundle-suite.ts"), outdir]);
  return [process.execPath, join(bundle, "dist", "index.js")];
}

export type Side = "client" | "server";

export interface Check {
  id: string;
  status: "SUCCESS" | "FAILURE" | "WARNING" | "INFO" | "SKIPPED";
  description: string;
  errorMessage?: string;
}

/** Warnings that do not concern us, by the name of their check. */
const tolerated: Record<string, string> = {
  "client-sse-retry-timing": "It is given for coming late, and a busy machine is late; coming early is a failure.",
  "sep-2322-ignore-unexpected-params":
    "It wants a question answered that was never asked: answers without a requestState belong to no request.",
};

export const runSuite = (...args: string[]) => runProgram([...suite(), ...args], { cwd: root });

export interface Requirements {
  scored: string[];
  /** Scenarios that run without counting: extensions, newer ones, and ones that the suite's own server fails. */
  reported: string[];
}

interface RequirementFile extends Record<Side, string[]> {
  not_scored: { scenario: string; leg: Side }[];
}

/** The scenarios of one revision, as the suite's option `--requirements` runs them. */
export async function requirementsOf(revision: string, side: Side): Promise<Requirements> {
  const text = await Bun.file(join(installed, "requirements", `${revision}.yaml`)).text();
  const { [side]: scored, not_scored: others } = Bun.YAML.parse(text) as RequirementFile;
  return { scored, reported: others.filter(({ leg }) => leg === side).map(({ scenario }) => scenario) };
}

/** The checks in the files below a folder. */
export async function checksIn(folder: string): Promise<Check[]> {
  const files = [...new Bun.Glob("**/checks.json").scanSync(folder)];
  return (await Promise.all(files.map((file) => Bun.file(join(folder, file)).json()))).flat() as Check[];
}

export function failedOf(checks: readonly Check[]): Check[] {
  return checks.filter(
    ({ id, status }) => status === "FAILURE" || (status === "WARNING" && tolerated[id] === undefined),
  );
}

/** A failure that is none of the suite's checks. */
export function failure(id: string, errorMessage: string): Check {
  return { id, status: "FAILURE", description: "", errorMessage };
}
