/** Addresses of servers on the network: where an entry has one, how it is spoken to, and what is wrong with it. */

/** `auto` is streamable HTTP, and the older way with SSE where the server knows no other. */
export type NetworkTransport = "auto" | "http" | "sse" | "websocket";

/** What hosts write as the `type` of such a server. */
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

/** Keys under which hosts write its address. */
export const addressKeys = ["url", "serverUrl", "httpUrl"];

/** Of the headers that are sent there. */
export const headerName = /^[\w!#$%&'*+.^`|~-]+$/;
export const headerValue = /^[^\0\r\n]*$/;

/** `type` is what stands there, whatever it is. */
export function transportOf(type: unknown, url: string): NetworkTransport {
  const named = networkTypeOf(type) ?? "auto";
  return named === "auto" && /^wss?:/i.test(url) ? "websocket" : named;
}

/** What is wrong with an address, without its text, which may hold a token; nothing while it has variables in it. */
export function addressProblem(url: string, transport: NetworkTransport): string | undefined {
  if (url.includes("${")) return undefined;
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
