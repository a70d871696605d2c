/** Finds the server that a person names for `claudikins add`: in which registries, and which of several. */

import { counted } from "../../base/counted.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { didYouMean, nearNames } from "../../base/near-names.ts";
import { userConfigFile } from "../../config/locations.ts";
import { hasReference } from "../../config/secrets/references.ts";
import {
  type Failed,
  findInRegistries,
  type RegistryMatch,
  type RegistrySearch,
  searchRegistries,
} from "../../setup/registries/lookup.ts";
import { fullName, type PublishedServer, serverVersion } from "../../setup/registries/published.ts";
import {
  configuredRegistries,
  namedRegistries,
  official,
  type Registry,
  titleOf,
} from "../../setup/registries/registries.ts";
import type { Io } from "../io.ts";
import { saying } from "../terminal/progress.ts";
import { choose } from "../terminal/prompt.ts";

/** Servers that fit a name. More are counted, and not listed. */
const maxListedMatches = 20;

export interface Wish {
  /** A full name such as `io.github.owner/server`, or words. */
  words: string;
  /** Undefined for the latest. */
  version?: string | undefined;
  isFullName: boolean;
}

/** Reads `name`, `name@version` or words. Throws USAGE for a version without a full name. */
export function wishOf(text: string): Wish {
  const words = text.trim();
  const at = words.lastIndexOf("@");
  const [name, version] = at > 0 ? [words.slice(0, at), words.slice(at + 1)] : [words];
  if (!fullName.test(name)) return { words, isFullName: false };
  if (version !== undefined && !serverVersion.test(version)) {
    throw new ClaudikinsError("USAGE", `"${version}" is not a version`, {
      hint: `Example: claudikins add ${name}@1.2.3`,
    });
  }
  return { words: name, version: version === "latest" ? undefined : version, isFullName: true };
}

/**
 * The registries to ask: the ones of `--registry`, or else of the user's own config. Without both, the official one is
 * asked, but only for what can be found nowhere else: a full name, or an explicit search. Words alone never leave this machine. Throws
 * NEEDS_SECRET.
 */
export async function registriesFor(
  { flags, isExplicit }: { flags: readonly string[]; isExplicit: boolean },
  { env }: Pick<Io, "env">,
): Promise<Registry[]> {
  const configured = await configuredRegistries(env);
  const wanted =
    flags.length > 0 ? namedRegistries(flags, configured) : (configured ?? (isExplicit ? [official()] : []));
  if (!hasReference(wanted)) return wanted;
  const { withReadValues } = await import("../../servers/values/read-values.ts");
  return Promise.all(wanted.map((each) => withReadValues(each, `The registry ${each.name}`, { env })));
}

/** Whether only a server in a registry can have this name: its namespace is a domain in reverse. */
export function isPublishedName({ words, isFullName }: Wish): boolean {
  return isFullName && /^[^/]+\.[^/]+\//.test(words);
}

export interface ChosenServer {
  server: PublishedServer;
  registry: Registry;
  notes: string[];
  /** The registries that might have another server of this name and did not answer. */
  unsure: Failed[];
}

export interface Several {
  several: RegistryMatch[];
  notes: string[];
}

/**
 * Returns the server, or several that a person who cannot be asked has to choose from. Throws SERVER_NOT_FOUND, and the error of a
 * registry if no registry has answered.
 */
export async function findServer(
  wish: Wish,
  registries: readonly Registry[],
  { near, isAsked }: { near: readonly string[]; isAsked: boolean },
  io: Io,
): Promise<ChosenServer | Several> {
  if (wish.isFullName) {
    const found = await exact(wish, registries, io);
    if (found) return found;
  }
  const search = await searchFor(wish, registries, io);
  const notes = failureNotes(search.failed);
  if (wish.isFullName || search.found.length === 0) throw notFound(wish, registries, search, near);
  if (!isAsked) return { several: search.found, notes };
  const chosen = await chooseOne(wish, search.found, io);
  const whole = await exact({ words: chosen.server.name, isFullName: true }, [chosen.registry], io);
  if (!whole) throw notFound({ words: chosen.server.name, isFullName: true }, [chosen.registry], search, []);
  return { ...whole, notes: [...notes, ...whole.notes] };
}

/** For a full name that does not exist, other servers of its publisher, or servers with its own name, may be meant. */
async function searchFor(
  { words, isFullName }: Wish,
  registries: readonly Registry[],
  io: Io,
): Promise<RegistrySearch> {
  const slash = words.indexOf("/");
  const parts = isFullName ? [[words.slice(0, slash + 1)], [words.slice(slash + 1)]] : [words.split(/\s+/)];
  const searches = parts.map((part) => searchRegistries(registries, part, io.interrupted));
  const [first, second] = await asking(registries, io, Promise.all(searches));
  return { ...first!, found: [...first!.found, ...(second?.found ?? [])] };
}

async function exact(
  { words, version }: Wish,
  registries: readonly Registry[],
  io: Io,
): Promise<ChosenServer | undefined> {
  const lookup = findInRegistries(registries, { name: words, version }, io.interrupted);
  const { server, registry, failed, unsure, also } = await asking(registries, io, lookup);
  if (!server || !registry) {
    // Without any answer, it is unknown whether the server exists.
    if (failed.length === registries.length && failed[0]) throw failed[0].error;
    return undefined;
  }
  const others = also.map(({ name }) => name).join(", ");
  return {
    server,
    registry,
    unsure,
    notes: [
      ...failureNotes(failed),
      ...(others === "" ? [] : [`note: ${others} also has a server of this name. To choose it: --registry\n`]),
    ],
  };
}

async function chooseOne({ words }: Wish, found: readonly RegistryMatch[], io: Io): Promise<RegistryMatch> {
  const [only, second] = found;
  if (only && !second) return only;
  const listed = found.slice(0, maxListedMatches);
  const more = found.length - listed.length;
  const choices = listed.map((each) => serverLine(each));
  const rest = more > 0 ? ` (${more} more are not listed: add words)` : "";
  const at = await choose(io, `These servers match "${words}"${rest}:`, [...choices, "none of them"]);
  const chosen = listed[at];
  if (chosen) return chosen;
  throw new ClaudikinsError("CANCELLED", "No server was chosen. Nothing was changed");
}

/** One server on one line. */
function serverLine({ server: { name, version, description, status }, registry }: RegistryMatch): string {
  const mark = status === "deprecated" ? " (deprecated)" : "";
  return `${name}@${version}${mark}: ${description || "no description"} [${registry.name}]`;
}

/** The error for several matches without a person who can choose. */
export function severalError({ words }: Wish, several: readonly RegistryMatch[]): ClaudikinsError {
  const listed = several.slice(0, maxListedMatches).map((each) => `  ${serverLine(each)}\n`);
  const more = several.length - listed.length;
  const rest = more > 0 ? `  and ${more} more\n` : "";
  const what = several.length === 1 ? "This server matches" : `${several.length} servers match`;
  return new ClaudikinsError("SERVER_NOT_FOUND", `${what} "${words}":\n${listed.join("")}${rest}`.trimEnd(), {
    hint: `Name the server exactly: claudikins add ${several[0]?.server.name}`,
  });
}

function notFound(
  wish: Wish,
  registries: readonly Registry[],
  { found, failed }: RegistrySearch,
  near: readonly string[],
): ClaudikinsError {
  const asked = registries.filter((registry) => !failed.some((each) => each.registry === registry));
  const [first] = failed;
  if (asked.length === 0 && first) return first.error;
  const { words, version } = wish;
  const names = [...new Set(found.map(({ server }) => server.name))];
  const where = asked.map(titleOf).join(" or ");
  const what = version === undefined ? `"${words}"` : `"${words}" in version ${version}`;
  const similar = nearNames(words, names);
  const meant = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : (didYouMean(words, names) ?? listed(names));
  const others = failed.map(({ error }) => ` ${error.message}.`).join("");
  return new ClaudikinsError("SERVER_NOT_FOUND", `No server called ${what} was found in ${where}`, {
    hint: [
      version !== undefined && similar.includes(words) ? "Leave out the version for the latest one." : meant,
      `To look for other words: claudikins add --search '…'.${others}`,
    ]
      .filter(Boolean)
      .join(" "),
  });
}

function listed(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : `There is ${names.slice(0, 3).join(", ")}.`;
}

export function failureNotes(failed: readonly Failed[]): string[] {
  return failed.map(({ error: { message, hint } }) => `note: ${message}.${hint === undefined ? "" : ` ${hint}`}\n`);
}

/** Shows whom it waits for. */
export function asking<T>(registries: readonly Registry[], { stderr }: Io, work: Promise<T>): Promise<T> {
  const names =
    registries.length > 2 ? counted(registries.length, "registry") : registries.map(({ name }) => name).join(" and ");
  return saying(stderr, `Asking ${names}`, work);
}

/** The next step for a name that is not in the catalog while no registry may be asked for it. */
export async function withoutRegistries(name: string, { env }: Pick<Io, "env">): Promise<string> {
  const isOff = (await configuredRegistries(env)) !== undefined;
  return isOff
    ? `Registries are turned off by "registries" in ${userConfigFile(env)}.`
    : `To look in the official MCP registry: claudikins add --search ${JSON.stringify(name)}.`;
}
