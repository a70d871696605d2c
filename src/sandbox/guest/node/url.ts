/**
 * `node:url`: the URL classes, and conversion between paths and URLs. It only converts text; `fs` decides what a path may reach.
 */
import { path } from "../library.ts";
import { URL, URLSearchParams } from "../web/core-js.ts";

function fileURLToPath(given: unknown): string {
  const { protocol, hostname, pathname } = new URL(String(given));
  if (protocol !== "file:") throw new TypeError(`The URL must be of scheme file, not ${protocol}`);
  if (hostname !== "") throw new TypeError(`File URL host must be empty, not ${hostname}`);
  return decodeURIComponent(pathname);
}

function pathToFileURL(given: unknown): URL {
  const encoded = path.resolve("/", String(given)).split("/").map(encodeURIComponent).join("/");
  return new URL(`file://${encoded}`);
}

export const url = {
  URL,
  URLSearchParams,
  fileURLToPath,
  pathToFileURL,
  format: (given: unknown) => String(given),
  parse: (text: string) => {
    const { href, protocol, host, hostname, port, pathname, search, hash } = new URL(text);
    const [auth, query] = [null, search.slice(1) || null];
    return { href, protocol, auth, host, hostname, port: port || null, pathname, search: search || null, query, hash };
  },
  resolve: (from: string, to: string) => new URL(to, from).href,
  domainToASCII: (domain: string) => new URL(`http://${domain}`).hostname,
};
