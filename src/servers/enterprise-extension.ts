/** The extension of MCP for servers that people use because the company's provider allows it. */
import type { ClientCapabilities } from "@modelcontextprotocol/client";
import type { ServerConfig } from "../config/load.ts";

type Extensions = ClientCapabilities["extensions"];

/** The extensions that are announced to a server: those of the agent, and this one if the server's entry uses it. */
export function announcedTo(server: ServerConfig, extensions: Extensions): Extensions {
  if (server.url === undefined || server.exchange?.kind !== "id-jag") return extensions;
  return { ...extensions, "io.modelcontextprotocol/enterprise-managed-authorization": {} };
}
