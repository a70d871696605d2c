/** What a server says of the sign-in that it wants: its WWW-Authenticate header (RFC 6750, RFC 9728). */

export interface Challenge {
  /** Where the server describes itself, and names its authorization server. */
  resourceMetadata?: string | undefined;
  scopes?: string[] | undefined;
  error?: string | undefined;
}

/** More than anybody has: they are written down, and shown. */
const maxScopes = 100;

/** RFC 6749, section 3.3. */
const isScope = (text: string) => /^[\x21\x23-\x5B\x5D-\x7E]{1,256}$/.test(text);

/** Undefined where it asks for no bearer token. Several schemes may stand in one header. */
export function challengeOf(headers: Headers): Challenge | undefined {
  const text = headers.get("www-authenticate") ?? "";
  const start = /(?:^|,)\s*bearer(?=\s|,|$)/i.exec(text);
  if (!start) return undefined;
  const found = new Map<string, string>();
  const parameter = /\s*,?\s*([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/y;
  parameter.lastIndex = start.index + start[0].length;
  // It ends where the next scheme begins: that is a word without a value.
  for (let match = parameter.exec(text); match; match = parameter.exec(text)) {
    const [, name = "", quoted, plain = ""] = match;
    const key = name.toLowerCase();
    if (!found.has(key)) found.set(key, quoted?.replace(/\\(.)/g, "$1") ?? plain);
  }
  const scopes = found.get("scope")?.split(/\s+/).filter(isScope).slice(0, maxScopes);
  return { resourceMetadata: found.get("resource_metadata"), scopes, error: found.get("error") };
}
