/** `claudikins add --search`: lists servers of the catalog and of the registries, and adds nothing. */
import { ClaudikinsError, problemOf } from "../../base/errors.ts";
import type { ValueOf } from "../../base/json-shape.ts";
import { searchRegistries } from "../../setup/registries/lookup.ts";
import type { CommandAnswer } from "../command.ts";
import type { Io } from "../io.ts";
import { type RowField, tableOf } from "../terminal/table.ts";
import { foundJson } from "./add-published.ts";
import { asking, failureNotes, registriesFor } from "./find-server.ts";
import type { foundServerShape } from "./flags.ts";

/** Servers that a search shows. More are counted, and not shown. */
const maxFoundServers = 50;

/** Throws USAGE, SERVER_NOT_FOUND, and the error of a registry if no registry has answered and the catalog has nothing. */
export async function searchServers(text: string, flags: readonly string[], io: Io): Promise<CommandAnswer> {
  const words = text.trim().split(/\s+/).filter(Boolean);
  if (words.length === 0) throw new ClaudikinsError("USAGE", "--search takes words");
  const registries = await registriesFor({ flags, isExplicit: true }, io);
  const known = flags.length > 0 ? [] : await inCatalog(words);
  const { found, failed, partial } = await asking(registries, io, searchRegistries(registries, words, io.interrupted));
  if (found.length + known.length === 0) {
    const [first] = failed;
    if (first && failed.length === registries.length) throw first.error;
    const where = ["the catalog", ...registries.map(({ name }) => name)].slice(flags.length > 0 ? 1 : 0).join(", ");
    const hint = ["Use fewer or other words.", ...failed.map(({ error }) => `${error.message}.`)].join(" ");
    throw new ClaudikinsError("SERVER_NOT_FOUND", `No server for "${words.join(" ")}" was found in ${where}`, { hint });
  }
  const servers = [...known, ...found.map(foundJson)];
  const shown = servers.slice(0, maxFoundServers);
  const names = new Map(registries.map(({ url, name }) => [url, name]));
  const fields: RowField<(typeof shown)[number]>[] = [
    ["name", ({ name }) => name],
    ["version", ({ version = "" }) => version],
    [
      { text: "description" },
      ({ status, description }) => `${status === "deprecated" ? "DEPRECATED. " : ""}${description}`,
    ],
    ["from", ({ registry }) => names.get(registry) ?? registry],
  ];
  const notes = failureNotes(failed);
  if (servers.length > shown.length)
    notes.push(`note: ${servers.length - shown.length} more. Add words to narrow it down\n`);
  for (const { name } of partial)
    notes.push(`note: ${name} has more servers than were read. Add words to narrow it down\n`);
  return {
    json: {
      servers: shown,
      ...(failed.length > 0
        ? { failed: failed.map(({ registry, error }) => ({ registry: registry.url, error: problemOf(error) })) }
        : {}),
    },
    text: tableOf(shown, io.stdout.columns, fields),
    note: `${notes.join("")}To see what one does, and to add it: claudikins add NAME\n`,
  };
}

async function inCatalog(words: readonly string[]): Promise<ValueOf<typeof foundServerShape>[]> {
  const { catalogServers } = await import("../../tools/server-catalog.ts");
  const lower = words.map((word) => word.toLowerCase());
  // A server with exactly that name comes first.
  return catalogServers()
    .filter(({ name, title, description, goodFor }) => {
      const text = [name, title, description, ...goodFor].join(" ").toLowerCase();
      return lower.every((word) => text.includes(word));
    })
    .toSorted((one, other) => Number(lower.includes(other.name)) - Number(lower.includes(one.name)))
    .map(({ name, title, description }) => ({
      name,
      title,
      description,
      status: "active",
      registry: "catalog",
    }));
}
