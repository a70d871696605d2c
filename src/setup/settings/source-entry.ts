/** Makes the entry of a web API from the flags of `claudikins add`. */
import { isAbsolute, relative, resolve, sep } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";
import { isWebAddress, placeProblem, type SourceKind, sourceKinds } from "../../config/sources.ts";
import type { NewServer } from "./add-server.ts";

/** The flags for web APIs, as they were given. */
export interface SourceFlags {
  openapi?: string | undefined;
  graphql?: string | undefined;
  schema?: string | undefined;
  "base-url"?: string | undefined;
  auth: string[];
  include: string[];
  exclude: string[];
}

export interface Folders {
  /** The working directory of the command. */
  cwd: string;
  /** The folder of the config file. Paths in it are relative to this folder. */
  config: string;
}

/** The flag that says what describes the API. Undefined if the command adds something else. Throws USAGE for flags without it. */
export function sourceKindOf(flags: SourceFlags): SourceKind | undefined {
  const kind = sourceKinds.find((each) => flags[each] !== undefined);
  const ofKinds = { "base-url": "openapi", schema: "graphql", openapi: "openapi", graphql: "graphql" } as const;
  const [foreign] = (["base-url", "schema", ...sourceKinds] as const).filter(
    (each) => flags[each] !== undefined && ofKinds[each] !== kind,
  );
  if (kind !== undefined && foreign === undefined) return kind;
  const flag = foreign ?? (["auth", "include", "exclude"] as const).find((each) => flags[each].length > 0);
  if (flag === undefined) return undefined;
  const to = foreign === undefined || kind !== undefined ? "a web API" : `--${ofKinds[foreign]}`;
  throw new ClaudikinsError(
    "USAGE",
    `--${flag} ${kind === undefined ? `only applies to ${to}` : `cannot be used with --${kind}`}`,
    {
      hint: "Example: claudikins add petstore --openapi https://api.example.com/openapi.json",
    },
  );
}

/** Throws USAGE. */
export function sourceEntry(
  flags: SourceFlags,
  headers: ReadonlyMap<string, string | undefined>,
  folders: Folders,
): NewServer["entry"] {
  if (flags.graphql !== undefined) return graphqlEntry({ ...flags, graphql: flags.graphql }, headers, folders);
  const { openapi = "", "base-url": baseUrl, auth, include, exclude } = flags;
  const problem = placeProblem(openapi);
  if (problem !== undefined || openapi === "") {
    throw new ClaudikinsError("USAGE", `--openapi: ${problem ?? "expected an address or a path"}`);
  }
  if (baseUrl !== undefined && !isWebAddress(baseUrl) && !baseUrl.includes("${")) {
    throw new ClaudikinsError("USAGE", "--base-url: expected an address that starts with http:// or https://");
  }
  return {
    openapi: placeOf(openapi, folders),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(headers.size > 0 ? { headers: Object.fromEntries(headers) } : {}),
    ...(auth.length > 0 ? { auth: authOf(auth) } : {}),
    ...(include.length > 0 ? { include } : {}),
    ...(exclude.length > 0 ? { exclude } : {}),
  };
}

function graphqlEntry(
  { graphql, schema, auth, include, exclude }: SourceFlags & { graphql: string },
  headers: ReadonlyMap<string, string | undefined>,
  folders: Folders,
): NewServer["entry"] {
  if (!isWebAddress(graphql) && !graphql.includes("${")) {
    throw new ClaudikinsError("USAGE", "--graphql: expected an address that starts with http:// or https://", {
      hint: "A file with the schema is named with --schema.",
    });
  }
  const problem = schema === undefined ? undefined : placeProblem(schema);
  if (problem !== undefined) throw new ClaudikinsError("USAGE", `--schema: ${problem}`);
  if (auth.length > 1) throw new ClaudikinsError("USAGE", "--auth: a GraphQL endpoint takes one token");
  return {
    graphql,
    ...(schema === undefined ? {} : { schema: placeOf(schema, folders) }),
    ...(headers.size > 0 ? { headers: Object.fromEntries(headers) } : {}),
    ...(auth[0] === undefined ? {} : { auth: auth[0] }),
    ...(include.length > 0 ? { include } : {}),
    ...(exclude.length > 0 ? { exclude } : {}),
  };
}

function placeOf(text: string, folders: Folders): string {
  return isWebAddress(text) || text.startsWith("${") ? text : placed(text, folders);
}

/** A path below the folder of the config stays short, so that the folder can be moved. */
function placed(path: string, { cwd, config }: Folders): string {
  const whole = resolve(cwd, path);
  const short = relative(config, whole);
  return short.startsWith("..") || isAbsolute(short) ? whole : `./${short.split(sep).join("/")}`;
}

/** `NAME=text` for a security scheme, or one text alone. */
function authOf(given: readonly string[]): string | Record<string, string> {
  const pairs = given.map((each) => /^([\w.-]+)=(?!=*$)(.+)$/s.exec(each));
  if (pairs.every((each) => each !== null)) {
    return Object.fromEntries(pairs.map(([, name = "", value = ""]) => [name, value]));
  }
  const [text = "", ...others] = given;
  if (others.length === 0) return text;
  throw new ClaudikinsError("USAGE", "--auth: with several credentials, each names its security scheme", {
    hint: "Example: --auth 'apiKey=${API_KEY}' --auth 'appKey=${APP_KEY}'",
  });
}
