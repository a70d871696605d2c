/** `claudikins list tools`: the tools of all servers or some. Only servers whose tools are not known are started. */
import { ClaudikinsError, problemOf } from "../../base/errors.ts";
import { about, byName, errorCode, list, named, record, text, type ValueOf } from "../../base/json-shape.ts";
import { toolId } from "../model.ts";
import { exampleCall, firstSentence, signature } from "../signature.ts";
import { unknownServer } from "./chosen-servers.ts";
import type { ToolCatalog } from "./tool-catalog.ts";

const tool = {
  id: about("server.tool, with the original names", text),
  server: text,
  name: text,
  description: about("The first sentence of its description", text),
};

const missingShape = record({ server: text, code: errorCode, message: text, "hint?": text });
export type MissingServer = ValueOf<typeof missingShape>;

const missing = about("Servers whose tools could not be listed, and why", list(missingShape));

/** In the order of the config, then by tool name. */
export const toolListShape = named(
  "Tools",
  about(
    "list tools",
    record({
      tools: list(
        record({
          ...tool,
          "signature?": about("With --detailed", text),
          "example?": text,
          "labels?": about("With --detailed: why the tool has each of its labels", byName(text)),
        }),
      ),
      missing,
    }),
  ),
);

const shownTool = record({ ...tool, signature: text, example: text });
export type ShownTool = ValueOf<typeof shownTool>;

export interface ToolList {
  tools: ShownTool[];
  missing: MissingServer[];
}

/**
 * Lists the tools of the named servers, or of all if none is named. Names in code are accepted as well. With names, the call waits for
 * these servers. Without names, slow servers are reported as missing. Throws SERVER_NOT_FOUND.
 */
export async function listTools(
  named: readonly string[],
  catalog: ToolCatalog,
  signal: AbortSignal,
): Promise<ToolList> {
  const chosen = named.map((name) => serverCalled(name, catalog));
  const missing = chosen.length > 0 ? await learnAll(chosen, catalog, signal) : await lookAtAll(catalog, signal);
  if (signal.aborted) throw new ClaudikinsError("CANCELLED", "Interrupted before the servers had answered");
  await catalog.observer.settleAll();
  const tools = catalog.names
    .filter(({ name }) => chosen.length === 0 || chosen.includes(name))
    .flatMap(({ name, jsName }) => {
      const known = catalog.find(name);
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

function serverCalled(written: string, { names }: ToolCatalog): string {
  const found = names.find(({ name }) => name === written) ?? names.find(({ jsName }) => jsName === written);
  if (found) return found.name;
  throw unknownServer(
    written,
    names.map(({ name }) => name),
  );
}

async function learnAll(names: string[], catalog: ToolCatalog, signal: AbortSignal): Promise<MissingServer[]> {
  const looks = names.map(async (server): Promise<MissingServer[]> => {
    try {
      if (catalog.isClosed(server)) throw new ClaudikinsError("POLICY_DENIED", `${server} is denied in the config`);
      await catalog.tools(server, { freshAs: "stored", signal });
      return [];
    } catch (error) {
      return [{ server, ...problemOf(error) }];
    }
  });
  return (await Promise.all(looks)).flat();
}

/** Closed servers are not asked, and do not count as missing. */
async function lookAtAll(catalog: ToolCatalog, signal: AbortSignal): Promise<MissingServer[]> {
  const problems = await catalog.listMissing(signal, { waitForOutdated: true });
  return [...problems].map(([server, message]) => ({ server, code: "SERVER_UNAVAILABLE", message }));
}
