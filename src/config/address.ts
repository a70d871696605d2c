/** Addresses of servers on the network: the keys that have one, its transport, and what is wrong with it. */
import { isLoopback } from "../base/loopback.ts";
import { isSourceKind, type SourceKind } from "./sources.ts";

/** `auto` tries streamable HTTP first, and then the older HTTP with SSE. A source has no transport of its own: claudikins speaks MCP for it. */
export type NetworkTransport = "auto" | "http" | "sse" | "websocket" | SourceKind;

/** The values of `type` that agents write for such a server. */
export const networkTypes: Readonly<Record<string, NetworkTransport>> = {
  http: "http",
  "streamable-http": "http",
  streamableHttp: "http",
  streamable_http: "http",
  sse: "sse",
  ws: "websocket",
  websocket: "websocket",
  remote: "auto",
};

export function networkTypeOf(type: unknown): NetworkTransport | undefined {
  return typeof type === "string" && Object.hasOwn(networkTypes, type) ? networkTypes[type] : undefined;
}

/** The keys under which agents write the address. */
export const addressKeys = ["url", "serverUrl", "httpUrl"];

/** Valid names and values of HTTP headers. */
export const headerName = /^[\w!#$%&'*+.^`|~-]+$/;
export const headerValue = /^[^\0\r\n]*$/;

/** Returns the transport of a server. `type` is the value in the config, of any JSON type; an unknown one counts as `auto`. */
export function transportOf(type: unknown, url: string): NetworkTransport {
  const named = networkTypeOf(type) ?? "auto";
  return named === "auto" && /^wss?:/i.test(url) ? "websocket" : named;
}

/** Returns what is wrong with an address, without its text, which may contain a token. An address with variables is not checked. */
export function addressProblem(url: string, transport: NetworkTransport): string | undefined {
  if (url.includes("${")) return undefined;
  if (isSourceKind(transport) && /^file:/i.test(url)) return undefined;
  const expected =
    transport === "websocket"
      ? "ws:// or wss://"
      : transport === "auto"
        ? "http://, https://, ws:// or wss://"
        : "http:// or https://";
  const protocol = URL.canParse(url) ? new URL(url).protocol : undefined;
  const fits = protocol !== undefined && expected.split(/,? (?:or )?/).includes(`${protocol}//`);
  return fits ? undefined : `expected an address that starts with ${expected}`;
}

/** Returns the same address with the scheme of HTTP, if it has the scheme of WebSockets. */
export function httpForm(url: URL): URL {
  return new URL(url.href.replace(/^ws/, "http"));
}

/** The name of the registry at registry.modelcontextprotocol.io. */
export const officialRegistry = "official";

/** Returns what is wrong with the address of a registry, without its text; undefined if nothing is. */
export function registryProblem(address: string): string | undefined {
  if (address === officialRegistry) return undefined;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    return `expected "${officialRegistry}" or an address that starts with https://`;
  }
  if (url.username !== "" || url.password !== "") return "must not contain a password: use headers";
  if (url.search !== "" || url.hash !== "") return "must not contain ? or #";
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return "must start with https://: without TLS, anyone on the way could change the answers";
  }
  return undefined;
}
