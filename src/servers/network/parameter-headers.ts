/**
 * Arguments that a server of MCP 2026-07-28 wants as HTTP headers too (basic/transports/streamable-http, "Custom Headers from Tool
 * Parameters"). Their schemas are marked with `x-mcp-header`. The SDK encodes and sends the headers.
 */
import { ProtocolError } from "@modelcontextprotocol/client";
import { ClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import type { Log } from "../../base/log.ts";
import { oneLine } from "../../base/visible-text.ts";
import type { Send } from "../connection/send-request.ts";
import type { ServerClient } from "../connection/server-client.ts";
import { isWithin } from "../lists/list-bounds.ts";
import { allPages } from "../lists/list-pages.ts";

const mark = "x-mcp-header";

/** The characters of a header's name (RFC 9110, section 5.6.2). */
const headerName = /^[\w!#$%&'*+.^`|~-]+$/;

const markedTypes: readonly unknown[] = ["string", "integer", "boolean"];

/** Keywords with schemas by name, and keywords with a schema or a list of schemas. Marks are allowed below none of them. */
const byName = ["patternProperties", "dependentSchemas", "$defs", "definitions"];
const inPlace = [
  ...["items", "prefixItems", "contains", "additionalProperties", "unevaluatedProperties", "unevaluatedItems"],
  ...["propertyNames", "oneOf", "anyOf", "allOf", "not", "if", "then", "else"],
];

/** Why a tool with this schema must not be used. Otherwise, the names of its headers in lower case; usually none. */
export function marksOf(inputSchema: unknown): ReadonlySet<string> | { problem: string } {
  const names = new Set<string>();
  const problemOf = (schema: JsonObject, path: readonly string[], isReachable: boolean): string | undefined => {
    const name = schema[mark];
    const place = path.join(".") || "the schema itself";
    if (!isReachable || path.length === 0) return `${place} is not a property that can be marked`;
    if (typeof name !== "string" || !headerName.test(name)) return `${place} does not name a valid header`;
    if (!markedTypes.includes(schema["type"])) return `${place} is not a string, an integer or a boolean`;
    if (names.has(name.toLowerCase())) return `${place} names a header that another property names`;
    names.add(name.toLowerCase());
    return undefined;
  };
  const visit = (schema: unknown, path: readonly string[], isReachable: boolean): string | undefined => {
    if (!isObject(schema)) return undefined;
    const problem = mark in schema ? problemOf(schema, path, isReachable) : undefined;
    if (problem !== undefined) return problem;
    for (const [name, property] of entriesOf(schema["properties"])) {
      const found = visit(property, [...path, name], isReachable);
      if (found !== undefined) return found;
    }
    const others = [
      ...byName.flatMap((keyword) => entriesOf(schema[keyword]).map(([, each]) => each)),
      ...inPlace.flatMap((keyword) => schema[keyword]),
    ];
    for (const other of others) {
      const found = visit(other, [...path, "…"], false);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  // A larger schema is not used either.
  const problem = isWithin(inputSchema) ? visit(inputSchema, [], true) : undefined;
  return problem === undefined ? names : { problem };
}

const entriesOf = (value: unknown) => (isObject(value) ? Object.entries(value) : []);

interface Options {
  server: string;
  log: Log;
  client: ServerClient;
  /** The schema of a tool as it was listed over an earlier connection. */
  storedSchema?: ((tool: string) => JsonObject | undefined) | undefined;
}

/**
 * Sends marked arguments as headers too. Tools with invalid marks are left out of lists. If the server misses a header, its tools have
 * changed: they are listed again, and the call is sent once more.
 */
export function withParameterHeaders(send: Send, { server, log, client, storedSchema }: Options): Send {
  let isListed = false;
  const isUsable = (tool: unknown) => {
    if (!isObject(tool)) return false;
    const name = String(tool["name"]);
    const marks = marksOf(tool["inputSchema"]);
    if ("problem" in marks) {
      log.warn(
        `${server}: the tool ${oneLine(name, 100)} is left out: its ${mark} is invalid: ${oneLine(marks.problem, 300)}`,
      );
    }
    if ("problem" in marks || marks.size === 0) client.markedTools.delete(name);
    else client.markedTools.set(name, tool["inputSchema"] as JsonObject);
    return !("problem" in marks);
  };
  const list: Send = async (request, what, call) => {
    const page = await send(request, what, call);
    isListed = true;
    return Array.isArray(page["tools"]) ? { ...page, tools: page["tools"].filter(isUsable) } : page;
  };
  const callTool: Send = async (request, what, call) => {
    const name = String(request.params["name"]);
    if (!isListed) isUsable({ name, inputSchema: storedSchema?.(name) });
    try {
      return await send(request, what, call);
    } catch (error) {
      if (!isHeaderMismatch(error)) throw error;
      const ask = (params: JsonObject) =>
        list({ method: "tools/list", params }, `tools/list of ${server}`, { ...call, onProgress: undefined });
      await allPages({ server, method: "tools/list", ask, read: () => [], note: () => {} });
      return send(request, what, call);
    }
  };
  return (request, what, call) => {
    if (request.method === "tools/list") return list(request, what, call);
    return request.method === "tools/call" ? callTool(request, what, call) : send(request, what, call);
  };
}

/** The server has not run the call (basic/transports/streamable-http, "Server Validation"). */
const headerMismatch = -32_020;

function isHeaderMismatch(error: unknown): boolean {
  return (
    error instanceof ClaudikinsError && error.cause instanceof ProtocolError && error.cause.code === headerMismatch
  );
}
