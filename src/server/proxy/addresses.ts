/**
 * The URIs of resources of many servers. A URI that only one server has stays as it is. One that several have, or that looks like
 * ours, is shown as `claudikins://<server>/<own URI>`. Templates follow the same rule.
 */

const scheme = "claudikins://";

export interface Place {
  server: string;
  uri: string;
}

export function prefixOf(server: string): string {
  return `${scheme}${encodeURIComponent(server.toWellFormed())}/`;
}

/** The server and URI that such an address means; undefined for other addresses. */
export function placeOf(uri: string, servers: Iterable<string>): Place | undefined {
  if (!uri.startsWith(scheme)) return undefined;
  for (const server of servers) {
    const prefix = prefixOf(server);
    if (uri.startsWith(prefix)) return { server, uri: uri.slice(prefix.length) };
  }
  return undefined;
}

/** The shown addresses of each server, in its order. */
export function shownAddresses(all: ReadonlyMap<string, readonly string[]>): Map<string, Map<string, string>> {
  const owners = new Map<string, Set<string>>();
  for (const [server, uris] of all) {
    for (const uri of uris) owners.set(uri, (owners.get(uri) ?? new Set()).add(server));
  }
  const shown = (server: string, uri: string) =>
    (owners.get(uri)?.size ?? 0) > 1 || uri.startsWith(scheme) ? prefixOf(server) + uri : uri;
  return new Map([...all].map(([server, uris]) => [server, new Map(uris.map((uri) => [uri, shown(server, uri)]))]));
}

/** Whether an address may come from a template (RFC 6570): it contains the template's fixed parts in order. */
export function mayBeOf(template: string, uri: string): boolean {
  const parts = template.split(/\{[^{}]*\}/);
  const [first = "", ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return uri === first;
  if (!uri.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = uri.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return uri.length - last.length >= at && uri.endsWith(last);
}

/** `file:` for `file:///a`; empty if there is none. */
export function schemeOf(uri: string): string {
  return /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(uri)?.[0].toLowerCase() ?? "";
}
