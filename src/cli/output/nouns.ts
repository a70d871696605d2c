/** What the commands about one kind of thing share, such as `tokens`, `people` and `approvals`: the things of a config, their table, their names. */
import { ClaudikinsError } from "../../base/errors.ts";
import { visibleText } from "../../base/visible-text.ts";
import { discoverConfig } from "../../config/discover.ts";
import { configText } from "../../programs/trace/record-text.ts";
import { configOwner } from "../../servers/logs/place.ts";
import type { CommandAnswer } from "../command.ts";
import type { Io } from "../io.ts";
import { type RowField, tableOf } from "../terminal/table.ts";

/** Ids that an error lists. */
const maxListedIds = 5;

/**
 * The config that a command is about, which need not be valid or trusted: its file, under which its tokens, people and approvals are stored;
 * null for the demo. `config` is the file that a flag names.
 */
export function chosenOwner(config: string | undefined, { cwd, env }: Pick<Io, "cwd" | "env">): string | null {
  return configOwner(discoverConfig({ flag: config, cwd, env }));
}

/** The things of the chosen config, or all with `--all`. */
export function ofChosen<Thing extends { config: string | null }>(
  things: readonly Thing[],
  { all, config }: { all?: boolean | undefined; config?: string | undefined },
  io: Io,
): Thing[] {
  const owner = all ? undefined : chosenOwner(config, io);
  return things.filter((each) => owner === undefined || each.config === owner);
}

interface Listing<Row> {
  json: unknown;
  rows: readonly Row[];
  /** In the place of an empty table. */
  none: string;
  /** Below the table. */
  note?: string;
}

/** Answers with the table of things, or with `none` if it is empty. */
export function listAnswer<Row>(
  { stdout }: Io,
  { json, rows, none, note = "" }: Listing<Row>,
  fields: readonly (RowField<Row> | undefined)[],
): CommandAnswer {
  return rows.length === 0 ? { json, note: none } : { json, text: tableOf(rows, stdout.columns, fields), note };
}

/** The column of the config, for a list of all. */
export function configField(isAll: boolean | undefined): RowField<{ config: string | null }> | undefined {
  return isAll ? [{ path: "config" }, ({ config }) => configText(config)] : undefined;
}

/** `2026-11-23 14:05`, in local time. */
export function localTime(at: number, precision: "minutes" | "seconds" = "minutes"): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  const minutes = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
  return precision === "minutes" ? minutes : `${minutes}:${two(date.getSeconds())}`;
}

interface Viewed {
  door?: string | null | undefined;
  person?: string | { name: string } | null | undefined;
  /** The name, where `person` is an id. */
  personName?: string | null | undefined;
}

/** The columns of doors and people. Each is left out if no row has one. */
export function viewFields(rows: readonly Viewed[]): (RowField<Viewed> | undefined)[] {
  const personOf = ({ person, personName }: Viewed) =>
    visibleText(personName ?? (typeof person === "string" ? person : person?.name) ?? "");
  return [
    rows.some(({ door }) => typeof door === "string") ? ["door", ({ door }) => door ?? ""] : undefined,
    rows.some(({ person }) => person) ? ["person", personOf] : undefined,
  ];
}

/** What a word names: by its id, because others choose the names, or else by a name. Undefined if nothing is. Throws USAGE if several have the name. */
export function thingCalled<Thing>(
  word: string,
  things: readonly Thing[],
  { kind, idOf, isNamed }: { kind: string; idOf(thing: Thing): string; isNamed(thing: Thing): boolean },
): Thing | undefined {
  const byId = things.find((each) => idOf(each) === word);
  if (byId) return byId;
  const named = things.filter(isNamed);
  if (named.length <= 1) return named[0];
  throw new ClaudikinsError("USAGE", `Several ${kind} are called "${word}"`, {
    hint: `Give an id: ${named.map(idOf).join(", ")}`,
  });
}

/** The id that a word is, or begins or ends like. Undefined if none fits. Throws USAGE if several do. */
export function idLike(
  word: string,
  ids: readonly string[],
  several = `Several executions begin or end with "${word}"`,
): string | undefined {
  if (word === "" || ids.includes(word)) return ids.find((id) => id === word);
  const fitting = ids.filter((id) => id.startsWith(word) || id.endsWith(word));
  if (fitting.length <= 1) return fitting[0];
  const more = fitting.length > maxListedIds ? `, and ${fitting.length - maxListedIds} more` : "";
  throw new ClaudikinsError("USAGE", several, { hint: `One of: ${fitting.slice(0, maxListedIds).join(", ")}${more}` });
}
