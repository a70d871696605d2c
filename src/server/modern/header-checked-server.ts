/**
 * The SDK's server of direct mode over HTTP. Arguments that a tool marks with `x-mcp-header` must be equal in the request's headers (MCP
 * 2026-07-28, basic/transports/streamable-http, "Server Validation"). The SDK checks this only for tools that it knows.
 */
import { McpServer } from "@modelcontextprotocol/server";
import { withTasks } from "../../clients/tasks-extension.ts";
import type { JsonObject } from "../../json-object.ts";
import { directCapabilities } from "../proxy/direct-session.ts";
import { serverInfo } from "../surface.ts";

export class HeaderCheckedServer extends McpServer {
  readonly #schemaOf: (tool: string) => JsonObject | undefined;

  /** `schemaOf` returns the schema of a tool with marked arguments. */
  constructor(instructions: string, schemaOf: (tool: string) => JsonObject | undefined) {
    super(serverInfo, { instructions });
    // Given to the constructor, these would add handlers for the SDK's own tools, prompts and resources.
    this.server.registerCapabilities(withTasks(directCapabilities));
    this.#schemaOf = schemaOf;
  }

  override toolInputSchemaJson(name: string): JsonObject | undefined {
    return this.#schemaOf(name);
  }
}
