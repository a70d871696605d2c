/** Reads what `claudikins add` is given: an entry, a URL, a command, or the name of a server in the catalog or a registry. */

import { ClaudikinsError } from "../../base/errors.ts";
import { isObject } from "../../base/json-object.ts";
import { networkTypeOf } from "../../config/address.ts";
import { isPasted, readPasted } from "../../setup/agents/supported/pasted.ts";
import {
  type CatalogVariable,
  catalogEntry,
  confinedServer,
  findInCatalog,
  type NewServer,
} from "../../setup/settings/add-server.ts";
import type { CatalogServer } from "../../tools/server-catalog.ts";
import type { CommandAnswer } from "../command.ts";
import type { Io } from "../io.ts";
import { ask } from "../terminal/prompt.ts";

/** The flags that become a part of the entry. */
export interface EntryDetails {
  env: Map<string, string | undefined>;
  headers: Map<string, string | undefined>;
  type: string | undefined;
  /** Makes the entry of a web API, if the flags describe one. */
  source: (() => NewServer["entry"]) | undefined;
}

export interface HowToAdd {
  isChecked: boolean;
  isAsked: boolean;
  /** Whether the entry asks for a sandbox. Undefined: it says nothing. */
  isConfined: boolean | undefined;
  /** The name of a server from the catalog in the config. */
  as: string | undefined;
  /** Flags that only apply to a server from a registry. */
  registryFlags: string[];
  /** Whether `--registry` names registries, so that the catalog is not meant. */
  skipsCatalog: boolean;
  findPublished(name: string, near: string[]): Promise<NewServer | { answer: CommandAnswer }>;
  /** `name` is the one before the path. */
  addBundle(file: string, name: string | undefined): Promise<NewServer>;
}

/** Throws USAGE, CONFIG_INVALID, SERVER_NOT_FOUND, NEEDS_VARIABLE and the errors of registries. */
export async function newServers(
  name: string | undefined,
  words: string[],
  details: EntryDetails,
  how: HowToAdd,
  io: Io,
): Promise<NewServer[] | { answer: CommandAnswer }> {
  const [first, ...rest] = words;
  if (name === undefined) {
    throw new ClaudikinsError("USAGE", "No server given", {
      hint: "Example: claudikins add github. For all forms: claudikins add --help",
    });
  }
  if (name.trim() === "") {
    throw new ClaudikinsError("USAGE", "A server needs a name", { hint: "claudikins add <name> -- <command>" });
  }
  const file = first ?? name;
  if (rest.length === 0 && isBundlePath(file)) {
    refuse([], { ...details, env: new Map() }, "a bundle");
    return [await how.addBundle(file, first === undefined ? undefined : name)];
  }
  const isEntry = name === "-" || isPasted(name);
  const [registryFlag] = how.registryFlags;
  if (registryFlag && (isEntry || first !== undefined || isAddress(name))) {
    throw new ClaudikinsError("USAGE", `${registryFlag} only applies to a server from a registry`, {
      hint: "See claudikins add --help",
    });
  }
  if (how.as !== undefined && (isEntry || first !== undefined || isAddress(name))) {
    const instead = isEntry || isAddress(name) ? "the name before it" : `"${how.as}" instead of "${name}"`;
    throw new ClaudikinsError("USAGE", "--as only applies to a server from the catalog or a registry", {
      hint: `Write ${instead}: the first word is the name.`,
    });
  }
  if (details.source) {
    if (isEntry || isAddress(name))
      throw new ClaudikinsError("USAGE", "A web API needs a name", {
        hint: "Example: claudikins add petstore --openapi https://api.example.com/openapi.json",
      });
    refuse(words, { ...details, headers: new Map() }, "the name of a web API");
    return [{ name, entry: details.source(), notes: [] }];
  }
  if (isEntry) {
    refuse(words, details, "an entry");
    return pastedServers(name === "-" ? await io.stdin.text() : name, undefined, io);
  }
  if (first === undefined) return namedServer(name, details, how, io);
  if (isPasted(first)) {
    refuse(rest, details, "an entry");
    return pastedServers(first, name, io);
  }
  const entry = isAddress(first) ? addressEntry(first, rest, details) : commandEntry(first, rest, details);
  return [{ name, entry, notes: [] }];
}

/** Whether a word means a bundle. */
function isBundlePath(word: string): boolean {
  return /\.(?:mcpb|dxt)$/i.test(word) && !/^[a-z][a-z\d+.-]+:\/\//i.test(word);
}

function addressEntry(url: string, rest: string[], details: EntryDetails): NewServer["entry"] {
  refuse(rest, { ...details, headers: new Map(), type: undefined }, "a URL");
  const headers = Object.fromEntries(details.headers);
  return { ...typeOf(details), url, ...(details.headers.size > 0 ? { headers } : {}) };
}

function commandEntry(command: string, args: string[], details: EntryDetails): NewServer["entry"] {
  refuse([], { ...details, env: new Map() }, "a command");
  return {
    command,
    ...(args.length > 0 ? { args } : {}),
    ...(details.env.size > 0 ? { env: references(details.env) } : {}),
  };
}

/** A variable without a value refers to the one in the environment. */
function references(env: Iterable<[string, string | undefined]>): Record<string, string> {
  return Object.fromEntries([...env].map(([key, value]) => [key, value ?? `\${${key}}`]));
}

async function namedServer(
  name: string,
  details: EntryDetails,
  how: HowToAdd,
  io: Io,
): Promise<NewServer[] | { answer: CommandAnswer }> {
  if (isAddress(name) && details.headers.size > 0) throw noName(name, "USAGE");
  refuse([], { ...details, env: new Map() }, "a server by its name");
  const found = how.skipsCatalog ? { near: [] } : await findInCatalog(name);
  if ("server" in found && found.server) return [await catalogServer(found.server, details, how, io)];
  if (isAddress(name) && URL.canParse(name)) throw noName(name, "SERVER_NOT_FOUND");
  const published = await how.findPublished(name, found.near);
  return "answer" in published ? published : [published];
}

async function catalogServer(
  found: CatalogServer,
  { env: given }: EntryDetails,
  { isAsked, isChecked, isConfined, as, registryFlags: [registryFlag] }: HowToAdd,
  io: Io,
): Promise<NewServer> {
  const server = isConfined ? confinedServer(found) : found;
  if (registryFlag) {
    throw new ClaudikinsError("USAGE", `${registryFlag} does not apply to ${server.title}, which is in the catalog`, {
      hint: "To look in a registry instead: --registry official",
    });
  }
  const entry = await catalogEntry(server, {
    given,
    env: io.env,
    ask: isAsked ? (variable) => askFor(variable, server.title, io) : undefined,
    lenient: !isChecked,
  });
  const extra = [...given].filter(([key]) => !server.variables.some((variable) => variable.name === key));
  if (extra[0] && entry["command"] === undefined) {
    throw new ClaudikinsError("USAGE", `${extra[0][0]} is not a variable of ${server.title}`, {
      hint: `Its variables: ${server.variables.map((variable) => variable.name).join(", ") || "none"}`,
    });
  }
  const env = { ...(entry["env"] as object | undefined), ...references(extra) };
  return {
    name: as ?? server.name,
    entry: { ...entry, ...(Object.keys(env).length > 0 ? { env } : {}) },
    notes: [...server.notes, ...(isConfined === undefined && isObject(server.confined) ? [proposal] : [])],
  };
}

const proposal = "On Linux it can run in a sandbox, which opens only what it needs: add --sandbox.";

function pastedServers(text: string, name: string | undefined, io: Io): NewServer[] {
  const pasted = readPasted(text, { env: io.env, platform: process.platform, cwd: io.cwd });
  if (name !== undefined && pasted.length > 1) {
    const message = `The entry has ${pasted.length} servers, but there is only one name: "${name}"`;
    throw new ClaudikinsError("USAGE", message, { hint: "Leave out the name: the entry names each server." });
  }
  return pasted.map((each) => {
    const own = name ?? each.name;
    if (own === undefined) {
      throw new ClaudikinsError("USAGE", "The entry has no name", {
        hint: "Name the server: claudikins add <name> '{ … }'",
      });
    }
    return { name: own, entry: each.entry, notes: each.notes };
  });
}

/** Refuses words and flags that do not apply to the added entry. */
function refuse(words: string[], { env, headers, type }: EntryDetails, what: string): void {
  const flag = env.size > 0 ? "--env" : headers.size > 0 ? "--header" : type === undefined ? undefined : "--type";
  if (words[0] !== undefined) throw new ClaudikinsError("USAGE", `Unexpected argument "${words[0]}" after ${what}`);
  if (flag)
    throw new ClaudikinsError("USAGE", `${flag} does not apply to ${what}`, { hint: "See claudikins add --help" });
}

/** The error for a URL without a name. */
function noName(address: string, code: "USAGE" | "SERVER_NOT_FOUND"): ClaudikinsError {
  return new ClaudikinsError(code, "A server needs a name", {
    hint: `claudikins add <name> ${new URL(address).origin}/…`,
  });
}

function isAddress(word: string): boolean {
  return /^(?:https?|wss?):\/\//i.test(word);
}

function typeOf({ type }: EntryDetails): { type?: string } {
  if (type === undefined) return {};
  if (networkTypeOf(type) !== undefined) return { type };
  throw new ClaudikinsError("USAGE", `--type takes http, sse or ws; got "${type}"`);
}

const secret = /token|secret|key|pass|pat$|credential|uri$|url$|dsn/i;

async function askFor({ name, what, from, required }: CatalogVariable, title: string, io: Io): Promise<string> {
  const where = from === undefined ? "" : `\n  ${from}`;
  const question = `${title} ${required ? "needs" : "accepts"} ${name}: ${what}${where}\n${name}${required ? "" : " (optional)"}: `;
  return (await ask(io, question, { hidden: secret.test(name) })).trim();
}
