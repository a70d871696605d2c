/** Adds servers to the config: finds their entries, fills in their variables, and checks that they work. */

import { ClaudikinsError, toClaudikinsError } from "../../base/errors.ts";
import { withTexts } from "../../base/json-object.ts";
import type { PortableEntry } from "../../config/config-file.ts";
import type { Environment } from "../../config/environment.ts";
import { variablesIn } from "../../config/expand.ts";
import { pageHintOf } from "../../servers/failures/server-failure.ts";
import type { Decider } from "../../store/audit/event.ts";
import type { ToolCatalog } from "../../tools/catalog/tool-catalog.ts";
import type { CatalogAnswer, CatalogServer } from "../../tools/server-catalog.ts";

export interface NewServer {
  name: string;
  entry: PortableEntry;
  notes: string[];
  /** Deletes what was made for the server, if it is not added. */
  discard?: () => void;
}

/** A variable of a server in the catalog. */
export type CatalogVariable = CatalogServer["variables"][number];

export interface VariableOptions {
  /** Values of `--env`, which are written into the entry. */
  given: ReadonlyMap<string, string | undefined>;
  env: Environment;
  /** Asks the user; undefined if the user cannot be asked. An empty answer counts as no answer. */
  ask?: ((variable: CatalogVariable) => Promise<string>) | undefined;
  /** Missing variables are neither asked for nor an error. */
  lenient: boolean;
}

/** The server of the catalog, or similar names. */
export async function findInCatalog(name: string): Promise<CatalogAnswer> {
  return (await import("../../tools/server-catalog.ts")).findInCatalog(name);
}

/** The error for a name that is not in the catalog, while no registry was asked for it. */
export function notInCatalog(name: string, near: readonly string[], more?: string): ClaudikinsError {
  const key = name.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^-+|-+$/g, "") || "<name>";
  return new ClaudikinsError("SERVER_NOT_FOUND", `The catalog has no server called "${name}"`, {
    hint: [
      near.length > 0 ? `Did you mean ${near.join(" or ")}?` : undefined,
      more,
      `To add any other server: claudikins add ${key} -- <command>, or claudikins add ${key} <address>`,
    ]
      .filter(Boolean)
      .join(" "),
  });
}

/**
 * The entry of a server in the catalog. `${NAME}` stays if the environment has the variable, and is replaced by a given or
 * typed value. Optional variables without a value are removed. Throws NEEDS_VARIABLE for missing required variables.
 */
export async function catalogEntry(server: CatalogServer, options: VariableOptions): Promise<PortableEntry> {
  let entry = structuredClone(server.server) as PortableEntry;
  const missing: CatalogVariable[] = [];
  const used = variablesIn(entry);
  for (const variable of server.variables) {
    const { name, required } = variable;
    if (!used.has(name)) continue;
    const isKnown = options.given.has(name) || Boolean(options.env[name]);
    const typed = isKnown || options.lenient ? undefined : await options.ask?.(variable);
    const value = options.given.get(name) ?? (typed || undefined);
    if (value !== undefined) entry = filled(entry, name, value);
    else if (!isKnown && required && !options.lenient) missing.push(variable);
    else if (!isKnown && !required) entry = without(entry, name);
  }
  if (missing.length > 0) throw needs(server, missing);
  return entry;
}

/**
 * The server with the entry that runs it in a box. Variables of the box are required. Throws USAGE for a server that cannot be confined. An
 * untested server gets its own files and no network.
 */
export function confinedServer(server: CatalogServer): CatalogServer {
  const { confined = {} } = server;
  if (typeof confined === "string" || !("command" in server.server)) {
    const why = typeof confined === "string" ? confined : "it is not a program on this machine";
    throw new ClaudikinsError("USAGE", `${server.title} cannot run in a sandbox: ${why}`, {
      hint: "Add it without --sandbox.",
    });
  }
  const entry = "server" in confined ? confined.server : { ...server.server, sandbox: confined };
  const opened = JSON.stringify("sandbox" in entry ? entry.sandbox : {});
  const variables = server.variables.map((variable) => {
    return opened.includes(`\${${variable.name}}`) ? { ...variable, required: true } : variable;
  });
  return { ...server, server: entry, variables };
}

function needs(server: CatalogServer, missing: CatalogVariable[]): ClaudikinsError {
  const names = missing.map(({ name }) => name);
  const lines = missing.map(({ name, what, from }) => `  ${name}: ${what}${from === undefined ? "" : ` (${from})`}`);
  return new ClaudikinsError("NEEDS_VARIABLE", `${server.title} needs ${names.join(", ")}:\n${lines.join("\n")}`, {
    hint: `Set ${names.length === 1 ? "it" : "them"} in your environment, or write ${names.length === 1 ? "it" : "them"} into the config: ${names.map((name) => `--env ${name}=…`).join(" ")}. Nothing was changed.`,
  });
}

export function filled(entry: PortableEntry, name: string, value: string): PortableEntry {
  return withTexts(entry, (text) => text.replaceAll(`\${${name}}`, () => value));
}

/** Removes members that consist of the variable; in other texts the variable gets an empty default. */
function without(entry: PortableEntry, name: string): PortableEntry {
  const reference = `\${${name}}`;
  return JSON.parse(JSON.stringify(entry), function (this: unknown, _, each) {
    if (each === reference && !Array.isArray(this)) return undefined;
    return typeof each === "string" ? each.replaceAll(reference, `\${${name}:-}`) : each;
  });
}

/** The result of the first start. */
export type CheckedEntry =
  | { tools: number }
  | { tools?: undefined; needs: string[] }
  | { tools?: undefined; signIn: true };

/** Starts the server once. A required sign-in or a missing variable is a result; any other failure is thrown. */
export async function checkNew(
  name: string,
  catalog: ToolCatalog,
  signal: AbortSignal,
  place?: Decider["place"],
): Promise<CheckedEntry | undefined> {
  const server = catalog.config.servers.get(name);
  if (!server) return undefined;
  if (server.needs.length > 0) return { needs: server.needs };
  try {
    return { tools: (await catalog.list(name, { isDry: true, signal })).server.tools.length };
  } catch (thrown) {
    const error = toClaudikinsError(thrown);
    const hasToken =
      server.url !== undefined &&
      (server.headersHelper !== undefined ||
        Object.keys(server.headers).some((header) => header.toLowerCase() === "authorization"));
    if (error.code === "AUTH_REQUIRED" && !hasToken) return { signIn: true };
    throw new ClaudikinsError(error.code, error.message, {
      hint: (place === "page"
        ? [pageHintOf(error), "Nothing was written."]
        : [error.hint, "Nothing was written. To add it anyway: --no-check"]
      )
        .filter(Boolean)
        .join(" "),
      cause: error.cause,
    });
  }
}
