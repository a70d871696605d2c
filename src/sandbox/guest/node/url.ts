/** `node:url`: the URL classes; files have no URLs in here. */
import URL from "core-js-pure/stable/url";
import URLSearchParams from "core-js-pure/stable/url-search-params";

const refuse = (name: string) => () => {
  throw new Error(`url.${name}: files have no URLs in here. Use paths such as "./workspace/notes.md" as they are.`);
};

export const url = {
  URL,
  URLSearchParams,
  fileURLToPath: refuse("fileURLToPath"),
  pathToFileURL: refuse("pathToFileURL"),
  format: (given: unknown) => String(given),
  parse: (text: string) => {
    const { href, protocol, host, hostname, port, pathname, search, hash } = new URL(text);
    const [auth, query] = [null, search.slice(1) || null];
    return { href, protocol, auth, host, hostname, port: port || null, pathname, search: search || null, query, hash };
  },
  resolve: (from: string, to: string) => new URL(to, from).href,
  domainToASCII: (domain: string) => new URL(`http://${domain}`).hostname,
};
