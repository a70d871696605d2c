/** An address that is resolved against another one goes where its first part says. Each place that does this says why no stranger chooses it. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/claudikins.ts";

const source = join(root, "src");

/** The calls that resolve an address, by file, and who chooses the first part or what checks the result. */
const resolved: Record<string, string> = {
  "base/off-thread.ts: new URL(Bun.isStandaloneExecutable ? path : `../${path}`, import.meta.url)":
    "paths of our own workers",
  "cli/bridge.ts: new URL(here, meta.url)": "a generated file, compared with its own address",
  'page/browser/editor/frame.tsx: new URL("editor.js", document.baseURI)': "a constant, beside the page's own script",
  "page/people/connect.ts: new URL(connectedPath, base)": "a constant",
  'page/people/connect.ts: new URL(search, "http://localhost")':
    "a query, which begins with a question mark; never fetched",
  "sandbox/guest/modules.ts: new URL(to, from)": "inside the sandbox, which has no network",
  "serve/http/front-door.ts: new URL(path, this.#server.url)": "a constant",
  "servers/auth/discovery.ts: URL.parse(named, server.href)": "a server; the request is checked by `checkReach`",
  'servers/auth/discovery.ts: new URL("/", server)': "a constant",
  "sources/openapi/addresses.ts: URL.parse(text, base)":
    "a document; a call to it passes the permit and the check of its reach",
  'sources/openapi/api-cache.ts: new URL(".", root)': "a constant",
  "sources/openapi/document/documents.ts: URL.parse(reference, base)": "a document; `Reader` checks each address",
  "sources/openapi/document/read-text.ts: URL.parse(next, from.href)": "a server; `Reader` checks each address",
  "sources/openapi/load-api.ts: URL.parse(self, url)": "a document; what it names is checked by `Reader`",
  'servers/auth/described.ts: new URL("/", authorizationUrl ?? tokenUrl)': "a constant",
  'servers/network/source-sender.ts: URL.parse(headers.get("location") ?? "", url.href)':
    "an API; the request is checked by `mayReach`, and another host gets no credentials",
  "sources/next-page.ts: URL.parse(address, url)": "an API; never fetched, only its query becomes arguments",
  "sources/openapi/sign-in.ts: URL.parse(text, address)": "a document; the request is checked by `checkReach`",
  "setup/registries/ask.ts: URL.canParse(location, from.href)": "a registry; the origin must stay the same",
  "setup/registries/ask.ts: new URL(location, from)": "a registry; the origin must stay the same",
  "setup/sign-in/sign-in.ts: new URL(address.search, back)": "a query, which begins with a question mark",
  "setup/sign-in/redirect-listener.ts: new URL(search, this.url)": "a query, which begins with a question mark",
  "setup/upgrade/releases.ts: new URL(next, at)": "the host of the releases; what is downloaded has a checksum",
};

/** The end of a call, and whether it has a second argument. `from` is behind its opening bracket. */
function callAt(text: string, from: number): { end: number; hasBase: boolean } {
  let depth = 1;
  let hasBase = false;
  let quote = "";
  let at = from;
  for (; at < text.length && depth > 0; at++) {
    const each = text[at]!;
    if (quote !== "") {
      if (each === "\\") at++;
      else if (each === quote) quote = "";
    } else if (/["'`]/.test(each)) quote = each;
    else if (/[([{]/.test(each)) depth += 1;
    else if (/[)\]}]/.test(each)) depth -= 1;
    else if (each === "," && depth === 1) hasBase = true;
  }
  return { end: at, hasBase };
}

test("only these calls resolve an address against another one", () => {
  const files = (readdirSync(source, { recursive: true }) as string[]).filter((name) => /\.tsx?$/.test(name));
  const found = files.flatMap((file) => {
    const text = readFileSync(join(source, file), "utf8");
    return [...text.matchAll(/\b(?:new URL|URL\.(?:parse|canParse))\(/g)].flatMap(({ index, 0: { length } }) => {
      const { end, hasBase } = callAt(text, index + length);
      return hasBase ? [`${file.replaceAll("\\", "/")}: ${text.slice(index, end).replace(/\s+/g, " ")}`] : [];
    });
  });
  expect([...new Set(found)].sort()).toEqual(Object.keys(resolved).sort());
});
