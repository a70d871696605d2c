/** Plays a recorded server, as an MCP server on stdin and stdout. */
import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { ClaudikinsError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import type { ImitatedServer } from "./imitation.ts";

/** Resolves when the client has closed the connection, or the signal is aborted. */
export async function playServer(name: string, imitated: ImitatedServer, signal: AbortSignal): Promise<void> {
  const server = serverOf(name, imitated);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  server.onclose = resolve;
  await server.connect(new StdioServerTransport());
  signal.addEventListener("abort", () => void server.close(), { once: true });
  await closed;
}

function serverOf(name: string, imitated: ImitatedServer): Server {
  const server = new Server({ name, version: "1.0.0" }, { capabilities: { tools: {}, resources: {}, prompts: {} } });
  server.setRequestHandler("tools/list", () => ({
    tools: [...imitated.tools].map(([tool, about]) => ({ name: tool, ...about }) as never),
  }));
  server.setRequestHandler("tools/call", ({ params }) => {
    if (imitated.tools.has(params.name)) return imitated.call(params.name, params.arguments ?? {}) as never;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No call of ${params.name} was ever recorded.`);
  });
  const other = (name: string, args: JsonObject, otherwise?: JsonObject) =>
    answered(imitated, name, args, otherwise) as never;
  server.setRequestHandler("resources/list", () => other("resources.list", {}, { resources: [] }));
  server.setRequestHandler("resources/templates/list", () =>
    other("resources.templates", {}, { resourceTemplates: [] }),
  );
  server.setRequestHandler("resources/read", ({ params: { uri } }) => other("resources.read", { uri }));
  server.setRequestHandler("prompts/list", () => other("prompts.list", {}, { prompts: [] }));
  server.setRequestHandler("prompts/get", ({ params: { name, arguments: args } }) =>
    other("prompts.get", args ? { name, arguments: args } : { name }),
  );
  return server;
}

/** `otherwise` is the answer if there is no recorded one. */
function answered(imitated: ImitatedServer, name: string, args: JsonObject, otherwise?: JsonObject): JsonObject {
  try {
    return imitated.other(name, args);
  } catch (error) {
    if (otherwise || !(error instanceof ClaudikinsError)) return otherwise ?? {};
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
  }
}
