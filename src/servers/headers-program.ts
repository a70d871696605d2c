/** Runs the line of `headersHelper` in a shell, and reads the headers that it prints. */
import { isObject, parsedJson } from "../base/json-object.ts";
import { headerName } from "../config/address.ts";
import type { NetworkServer } from "../config/load.ts";
import { NetworkFailure } from "./network-failure.ts";
import { type OutputOptions, outputOf, ProgramFailure } from "./program-output.ts";

type HelpedServer = NetworkServer & { headersHelper: string };

/** Throws NetworkFailure. */
export async function printedHeaders(
  server: HelpedServer,
  { env, ...options }: OutputOptions,
): Promise<Record<string, string>> {
  const { headersHelper: command, name, url, cwd = process.cwd() } = server;
  const own = { CLAUDE_CODE_MCP_SERVER_NAME: name, CLAUDE_CODE_MCP_SERVER_URL: url };
  try {
    const text = await outputOf({ command, args: [], isShellLine: true, cwd }, { ...options, env: { ...env, ...own } });
    return headersIn(text);
  } catch (error) {
    if (!(error instanceof ProgramFailure)) throw error;
    if (error.hasNoFolder) throw failed(error.message, 'Create the folder, or correct "cwd" in the config.');
    throw failed(error.message, exitHints[error.exitCode ?? 0]);
  }
}

function headersIn(text: string): Record<string, string> {
  if (text.trim() === "") throw failed("printed nothing", form);
  const value = parsedJson(text);
  if (value === undefined) throw failed("printed something that is not JSON", form);
  if (!isObject(value)) throw failed(`printed ${jsonKind(value)} instead of a JSON object`, form);
  const headers = new Headers();
  for (const [name, each] of Object.entries(value)) {
    if (!headerName.test(name)) throw failed("printed a name that is not valid for a header", form);
    if (typeof each !== "string") throw failed(`printed ${jsonKind(each)} as the value of "${name}"`, form);
    try {
      headers.set(name, each);
    } catch {
      throw failed(`printed a value of "${name}" with characters that are not valid in a header`, form);
    }
  }
  return Object.fromEntries(headers);
}

function jsonKind(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** The exit codes of shells. */
const exitHints: Record<number, string> = {
  126: "Make the program executable, for example with chmod +x.",
  127: 'A program that it names was not found: correct "headersHelper" in the config, or the PATH of claudikins.',
};

const form = 'It must print a JSON object of strings, such as {"Authorization": "Bearer …"}, and nothing else.';
const runIt = 'Run the line of "headersHelper" in a terminal to see what it prints.';

function failed(what: string, hint?: string): NetworkFailure {
  return new NetworkFailure(`its headersHelper ${what}`, { hint: hint === undefined ? runIt : `${hint} ${runIt}` });
}
