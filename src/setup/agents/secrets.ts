/** Masks the secrets of servers in texts that are shown to people. */

import { isObject, withTexts } from "../../base/json-object.ts";
import type { PortableEntry } from "../../config/config-file.ts";
import type { ServerConfig } from "../../config/load.ts";
import { type Redact, redactorOf } from "../../servers/values/secrets.ts";

/** Tokens with a known prefix, wherever they are in the settings. */
const tokenLike = /\b(?:gh[pousr]_|github_pat_|glpat-|sk-|xox[abeprs]-|AKIA|AIza|eyJ)[\w.-]{8,}/g;

/** `"apiKey": "…"` or `api_key = "…"` on one line, unless the value is a variable. The `tokenUrl` of an exchange is an address. */
const namedSecret =
  /((?:["']?)(?!tokenUrl["'])[\w.-]*(?:token|secret|password|passwd|api[_-]?key|credential)[\w.-]*["']?\s*[:=]\s*)(["'])(?!\$\{|\{env:|\$[A-Z]|[A-Z][A-Z\d_]*["'])((?:(?!\2)[^\\\n]|\\.)+)\2/gi;

/** `scheme://user:password@host`, with any scheme. */
const userinfo = /(\b[a-z][a-z\d+.-]*:\/\/)[^\s/@"']+@/gi;

/** A function that masks the secrets of all these entries. Variables such as `${TOKEN}` are not masked. */
export function maskOf(entries: Iterable<PortableEntry>): Redact {
  const redactors = [...entries].map((entry) => redactorOf(asServer(entry)));
  return (text) =>
    redactors
      .reduce((masked, redact) => redact(masked), text)
      .replace(tokenLike, "***")
      .replace(userinfo, "$1***@")
      .replace(namedSecret, (_, before: string, quote: string) => `${before}${quote}***${quote}`);
}

/** Whether the entries contain secrets in plain text. */
export function haveSecrets(entries: readonly PortableEntry[]): boolean {
  const text = JSON.stringify(entries);
  return maskOf(entries)(text) !== text;
}

/** The parts of the entry that `redactorOf` reads. */
function asServer(entry: PortableEntry): ServerConfig {
  const plain = withTexts(entry, (text) => text.replace(/\$\{[^}]*\}/g, "x"));
  const { command, args, env, url, serverUrl, httpUrl, baseUrl, openapi, graphql, headers, oauth, auth } = plain;
  const address = [url, serverUrl, httpUrl, baseUrl, openapi, graphql].find((each) => typeof each === "string");
  const isSource = typeof openapi === "string" || typeof graphql === "string";
  const secret = isObject(auth) && !isSource ? { clientSecret: auth["CLIENT_SECRET"] } : undefined;
  const shared = { name: "", needs: [] };
  if (address === undefined) return { ...shared, command, args: args ?? [], env: env ?? {} } as unknown as ServerConfig;
  const source = isSource ? { openapi, graphql, auth } : {};
  return {
    ...shared,
    url: address,
    headers: headers ?? {},
    oauth: oauth ?? secret,
    ...source,
  } as unknown as ServerConfig;
}
