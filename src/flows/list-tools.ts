/** list tools: what there is to call, of all servers or some. Only those are started whose tools nobody has asked for yet. */
import { ClaudikinsError, type ErrorCode, toClaudikinsError } from "../errors.ts";
import { toolId } from "../registry/model.ts";
import { exampleCall, firstSentence, signature } from "../registry/signature.ts";
import { unknownServer } from "./chosen-servers.ts";
import { askUnknownServers } from "./first-look.ts";
import type { Toolbox } from "./toolbox.ts";

export interface ShownTool {
  /** `server.tool`, with the original names. */
  id: string;
  server: string;
  name: string;
  /** Its first sentence. */
  description: string;
  signature: string;
  example: string;
}

export interface MissingServer {
  server: string;
  code: ErrorCode;
  message: string;
  hint?: string;
}

export interface ToolList {
  /** In the order of the config, then by name. */
  tools: ShownTool[];
  /** Why the tools of other servers are not among them. */
  missing: MissingServer[];
}

/**
 * Of these servers, by their names or those that they have in code; of all where none is named. Who is named is waited for,
 * of the others no one for long. Throws SERVER_NOT_FOUND.
 */
export async function listTools(named: readonly string[], toolbox: Toolbox, signal: AbortSignal): Promise<ToolList> {
  const chosen = named.map((name) => serverCalled(name, toolbox));
  const missing = chosen.length > 0 ? await learnAll(chosen, toolbox, signal) : await lookAtAll(toolbox, signal);
  signal.throwIfAborted();
  await toolbox.observer.settleAll();
  const tools = toolbox.names
    .filter(({ name }) => chosen.length === 0 || chosen.includes(name))
    .flatMap(({ name, jsName }) => {
      const known = toolbox.known(name);
      const server = { name, jsName };
      return (known?.tools ?? []).map((tool) => ({
        id: toolId(name, tool.name),
        server: name,
        name: tool.name,
        description: firstSentence(tool.description || tool.title || ""),
        signature: signature(server, tool),
        example: exampleCall(server, tool),
      }));
    });
  return { tools, missing };
}

function serverCalled(written: string, { names }: Toolbox): string {
  const found = names.find(({ name }) => name === written) ?? names.find(({ jsName }) => jsName === written);
  if (found) return found.name;
  throw unknownServer(
    written,
    names.map(({ name }) => name),
  );
}

async function learnAll(names: string[], toolbox: Toolbox, signal: AbortSignal): Promise<MissingServer[]> {
  const looks = names.map(async (server): Promise<MissingServer[]> => {
    try {
      if (toolbox.isClosed(server)) throw new ClaudikinsError("POLICY_DENIED", `${server} is denied in the config`);
      if (!toolbox.known(server)) await toolbox.learn(server, signal);
      return [];
    } catch (error) {
      const { code, message, hint } = toClaudikinsError(error);
      return [{ server, code, message, ...(hint === undefined ? {} : { hint }) }];
    }
  });
  return (await Promise.all(looks)).flat();
}

/** Without those that are closed: nobody asks them. */
async function lookAtAll(toolbox: Toolbox, signal: AbortSignal): Promise<MissingServer[]> {
  const problems = await askUnknownServers(toolbox, signal);
  return [...problems].map(([server, message]) => ({ server, code: "SERVER_UNAVAILABLE", message }));
}
