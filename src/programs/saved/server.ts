/** The saved programs as an MCP server in this process: the pool connects to it, lists it and calls it like any other server. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { toClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { traceIn } from "../../base/trace-context.ts";
import { version } from "../../base/version.ts";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import type { Outcome } from "../../sandbox/contract.ts";
import type { Channel } from "../../servers/connection/channel.ts";
import { memoryChannel } from "../../servers/connection/memory-channel.ts";
import type { ExecutionParts } from "../execute.ts";
import type { Executions } from "../execution/executions.ts";
import { callerIn } from "./callers.ts";
import { ProgramLibrary } from "./library.ts";
import { programsServer } from "./model.ts";
import { runForCall } from "./run.ts";
import { toolOf } from "./tools.ts";
import { callerOwner, VisiblePrograms } from "./visible-programs.ts";

interface ServerOptions {
  place: SavedProgramsPlace;
  parts: ExecutionParts;
  executions: () => Promise<Executions>;
}

/** A channel to a new server. It ends with its connection. */
export async function savedProgramsChannel(options: ServerOptions): Promise<Channel> {
  const { Server } = await import("@modelcontextprotocol/server");
  const library = new ProgramLibrary(options.place);
  const server = new Server({ name: programsServer, version }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({ tools: library.readable().map((each) => toolOf(each, options)) }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const { name, arguments: given = {}, _meta: meta } = params;
    try {
      const caller = callerIn(meta);
      const programs = new VisiblePrograms(options.place, callerOwner(caller, options.parts));
      const program = programs.called(name, caller?.version);
      const executions = await options.executions();
      const call = { caller, signal: mcpReq.signal, trace: traceIn(meta) };
      const outcome = await runForCall(program, given, call, executions, options.parts);
      return resultOf(outcome, name);
    } catch (error) {
      const { message, hint } = toClaudikinsError(error);
      return failed([message, hint].filter(Boolean).join("\n"));
    }
  });
  return memoryChannel(server);
}

function resultOf(outcome: Outcome, name: string): CallToolResult {
  if (!outcome.ok) {
    const { message, code, line } = outcome.error;
    const where = line === undefined ? "" : ` (line ${line} of the program)`;
    return failed(`${programsServer}.${name}: ${code === undefined ? "" : `${code}: `}${message}${where}`);
  }
  const { value = null, json = JSON.stringify(value), display } = outcome;
  if (outcome.value === undefined && display.length > 0) return { content: display as CallToolResult["content"] };
  const content: CallToolResult["content"] = [{ type: "text", text: json }];
  return isObject(value) ? { content, structuredContent: value as JsonObject } : { content };
}

function failed(text: string): CallToolResult {
  return { isError: true, content: [{ type: "text", text }] };
}
