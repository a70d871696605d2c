/** Reads the addresses of an API. */
import { isObject, type JsonObject } from "../../base/json-object.ts";
import type { LoadedDocument } from "./document/documents.ts";

/** Addresses that are kept. */
const maxAddresses = 20;

/** The addresses of the API, absolute. Empty if the document names none and has no address of its own. */
export function serversOf({ value, url }: LoadedDocument): string[] {
  if (typeof value["swagger"] === "string") return oldServers(value, url);
  return addressesIn(value["servers"], url) ?? addressesIn([{ url: "/" }], url) ?? [];
}

/** The absolute addresses of a `servers` list. Undefined if there are none. */
export function addressesIn(servers: unknown, base: string): string[] | undefined {
  if (!Array.isArray(servers)) return undefined;
  const found = servers
    .filter(isObject)
    .slice(0, maxAddresses)
    .flatMap((server) => absolute(filledIn(server), base) ?? []);
  return found.length > 0 ? [...new Set(found)] : undefined;
}

/** Variables get their defaults. */
function filledIn({ url, variables }: JsonObject): string {
  const values = isObject(variables) ? variables : {};
  return (typeof url === "string" ? url : "/").replace(/\{([^}]+)\}/g, (whole, name: string) => {
    const variable = Object.hasOwn(values, name) ? values[name] : undefined;
    if (!isObject(variable)) return whole;
    const { default: usual, enum: options } = variable;
    const first = usual ?? (Array.isArray(options) ? options[0] : undefined);
    return typeof first === "string" || typeof first === "number" ? String(first) : whole;
  });
}

/** Undefined for addresses that cannot be called: with variables that have no value, or relative in a file. */
function absolute(address: string, base: string): string | undefined {
  const isInFile = base.startsWith("file:");
  const text = isInFile && address.startsWith("//") ? `https:${address}` : address;
  const url = isInFile ? URL.parse(text) : URL.parse(text, base);
  if (!url || !/^https?:$/.test(url.protocol) || /[{}]|%7[BD]/i.test(url.href)) return undefined;
  url.hash = "";
  return url.href.replace(/\/$/, "");
}

function oldServers({ host, basePath, schemes }: JsonObject, url: string): string[] {
  const path = typeof basePath === "string" ? basePath : "/";
  const named = Array.isArray(schemes) ? schemes.filter((each) => each === "https" || each === "http") : [];
  const usual = url.startsWith("file:") ? "https" : (URL.parse(url)?.protocol.replace(":", "") ?? "https");
  // Credentials are safer with https.
  const sorted = (named.length > 0 ? named : [usual]).toSorted().toReversed();
  if (typeof host === "string" && host !== "")
    return sorted.flatMap((scheme) => absolute(`${String(scheme)}://${host}/${path.replace(/^\/+/, "")}`, url) ?? []);
  return addressesIn([{ url: path }], url) ?? [];
}
