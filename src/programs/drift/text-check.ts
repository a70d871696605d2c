/** Finds the calls of a program that are certainly wrong by now, from its text. */

import { requiredArguments } from "../../base/json-schema.ts";
import { modelServerName } from "../../config/model-server.ts";
import { checkCalls } from "../../sandbox/code/check.ts";
import { CheckError } from "../../sandbox/code/check-error.ts";
import { transpile } from "../../sandbox/code/transpile.ts";
import type { KnownFunction, Namespace } from "../../sandbox/contract.ts";
import { mentions } from "../mentioned-servers.ts";
import type { TestedProgram } from "../recordings/test-program.ts";
import { codeWithInput } from "../saved/inputs.ts";
import type { CurrentServer, CurrentServers, CurrentTool, Reason } from "./contract.ts";

export async function wrongCalls({ code }: TestedProgram, servers: CurrentServers): Promise<Reason[]> {
  const gone = Object.keys(servers).filter((name) => servers[name] === null && mentions(code, name));
  const missing = gone.map((name): Reason => ({ text: noServer(name) }));
  const namespaces = Object.entries(servers).flatMap(([name, server]) => (server ? [namespaceOf(name, server)] : []));
  try {
    const { plain, originalPosition } = await transpile(codeWithInput(code, {}));
    const found: Reason[] = [];
    for (const mistake of checkCalls(plain, { namespaces })) {
      // The program has run with the other mistakes.
      if (mistake.code === "MISSING_AWAIT") continue;
      const { line } = await originalPosition(mistake.at);
      found.push({ line, text: mistake.message });
    }
    return [...missing, ...found];
  } catch (error) {
    if (!(error instanceof CheckError)) throw error;
    return [...missing, { line: error.error.line, text: `The program cannot be read: ${error.message}` }];
  }
}

export function noServer(name: string): string {
  if (name === modelServerName) return `Programs may not ask a model: "askModel" in claudikins.json is off`;
  return `The config has no server "${name}" any more`;
}

function namespaceOf(name: string, { jsName, tools }: CurrentServer): Namespace {
  const [held, callable] = [tools.filter(({ isHeld }) => isHeld), tools.filter(({ isHeld }) => !isHeld)];
  return {
    name,
    jsName,
    functions: callable.map(functionOf),
    hidden: held.map(({ name, jsName }) => ({ name, jsName })),
  };
}

function functionOf({ name, jsName, inputSchema }: CurrentTool): KnownFunction {
  if (!inputSchema) return { name, jsName };
  return {
    name,
    jsName,
    inputSchema: { ...inputSchema, required: [...requiredArguments(inputSchema, inputSchema)] },
  };
}
