/** Reads the WWW-Authenticate header of a response: which sign-in a server asks for (RFC 6750, RFC 9728). */

/** Scopes of a sign-in, because they are stored and shown. */
const maxScopes = 100;

export interface Challenge {
  /** The URL of the server's metadata, which names its authorization server. */
  resourceMetadata?: string | undefined;
  scopes?: string[] | undefined;
  error?: string | undefined;
}

/** RFC 6749, section 3.3. */
const isScope = (text: string) => /^[\x21\x23-\x5B\x5D-\x7E]{1,256}$/.test(text);

/**
 * Undefined if the server asks for no bearer token. One header may contain several schemes; the SDK's own reader takes only the
 * first one.
 */
export function challengeOf(headers: Headers): Challenge | undefined {
  const text = headers.get("www-authenticate") ?? "";
  const start = /(?:^|,)\s*bearer(?=\s|,|$)/i.exec(text);
  if (!start) return undefined;
  const found = new Map<string, string>();
  const parameter = /\s*,?\s*([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/y;
  parameter.lastIndex = start.index + start[0].length;
  // The next scheme is a word without a value, and ends the parameters.
  for (let match = parameter.exec(text); match; match = parameter.exec(text)) {
    const [, name = "", quoted, plain = ""] = match;
    const key = name.toLowerCase();
    if (!found.has(key)) found.set(key, quoted?.replace(/\\(.)/g, "$1") ?? plain);
  }
  const scopes = found.get("scope")?.split(/\s+/).filter(isScope).slice(0, maxScopes);
  return { resourceMetadata: found.get("resource_metadata"), scopes, error: found.get("error") };
}
