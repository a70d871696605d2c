/** Entries for web APIs: the keys that make an entry a source, and the places that they name. */
import { isAbsolute, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** The keys of an entry that make it a source. Each is also the name of the kind. */
export const sourceKinds = ["openapi", "graphql"] as const;

export type SourceKind = (typeof sourceKinds)[number];

export function isSourceKind(kind: unknown): kind is SourceKind {
  return sourceKinds.some((each) => each === kind);
}

/** The credentials for the security schemes of a document, by their names. A text alone is for any scheme that takes one text. */
export type SourceAuth = string | Record<string, string>;

export function authTexts(auth: SourceAuth | undefined = {}): string[] {
  return typeof auth === "string" ? [auth] : Object.values(auth);
}

/** The keys that a source has besides the keys of a server on the network. */
export interface SourceKeys {
  /** The address or the path of the document. After the variables are filled in, a path is absolute. */
  openapi?: string | undefined;
  /** The address of a GraphQL endpoint. */
  graphql?: string | undefined;
  /** The address or the path of the schema of a GraphQL endpoint that does not tell it. After the variables are filled in, a path is absolute. */
  schema?: string | undefined;
  /** The address of the API, in place of the addresses in the document. It may be private, because the user chose it. */
  baseUrl?: string | undefined;
  /** Patterns of the operations that become tools. Default: all. */
  include?: string[] | undefined;
  exclude?: string[] | undefined;
  /** Addresses or paths of OpenAPI overlays, which are applied in this order. */
  overlays?: string[] | undefined;
  /** Values are secrets. */
  auth?: SourceAuth | undefined;
}

export function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** Returns what is wrong with the place of a document; undefined if nothing is. A place with variables is not checked. */
export function placeProblem(text: string): string | undefined {
  if (text.includes("${") || !hasScheme(text) || isWebAddress(text)) return undefined;
  return "expected a path, or an address that starts with http:// or https://";
}

/** A drive letter of Windows does not count as a scheme. */
function hasScheme(text: string): boolean {
  return /^[a-z][a-z\d+.-]+:/i.test(text);
}

/** The keys on which the list of tools depends. Credentials are left out. */
export function sourceMark({ openapi, graphql, schema, baseUrl, include, exclude, overlays }: SourceKeys): object {
  return { openapi, graphql, schema, baseUrl, include, exclude, overlays };
}

/** The address of the API if the entry has it, and else the place of the document. Sign-ins are kept for this address. */
export function sourceUrl(kind: SourceKind, { openapi = "", graphql = "", baseUrl = openapi }: SourceKeys): string {
  return { openapi: baseUrl, graphql }[kind];
}

/** The same entry with absolute paths. `folder` is the folder of the config file. */
export function placedSource<Entry extends SourceKeys>(
  kind: SourceKind,
  entry: Entry,
  folder: string,
): Entry & { url: string } {
  const placed = (text: string) => (hasScheme(text) ? text : resolve(folder, text));
  const { openapi, schema, overlays } = entry;
  const whole = {
    ...entry,
    ...(openapi === undefined ? {} : { openapi: placed(openapi) }),
    ...(schema === undefined ? {} : { schema: placed(schema) }),
    ...(overlays === undefined ? {} : { overlays: overlays.map(placed) }),
  };
  const url = sourceUrl(kind, whole);
  return { ...whole, url: isAbsolute(url) ? pathToFileURL(url).href : url };
}
