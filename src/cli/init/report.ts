/** The report of init, as JSON and as text. */

import { counted, grouped } from "../../base/counted.ts";
import { ClaudikinsError, type Problem } from "../../base/errors.ts";
import {
  about,
  exactly,
  list,
  number,
  oneOf,
  problem,
  record,
  text,
  texts,
  type ValueOf,
  yesOrNo,
} from "../../base/json-shape.ts";
import type { ConfigFile, PortableEntry } from "../../config/config-file.ts";
import type { Config, ServerConfig } from "../../config/load.ts";
import { surfaceTokensOf } from "../../serve/surface/surface-tokens.ts";
import type { Applied } from "../../setup/agents/apply.ts";
import type { FoundFile, FoundFiles } from "../../setup/agents/find-servers.ts";
import type { EntryOrigin, Inventory } from "../../setup/agents/merge.ts";
import { maskOf } from "../../setup/agents/secrets.ts";
import { agents } from "../../setup/agents/supported/agents.ts";
import { type Supplied, suppliedText } from "../../setup/agents/supported/model.ts";
import type { Survey, SwitchPlan } from "../../setup/agents/switch-over.ts";
import type { Needed } from "../../setup/upgrade/lasting.ts";
import { privateReason } from "../../tools/catalog/session-of.ts";
import { tableOf } from "../terminal/table.ts";
import { stateCell, warningLabel } from "../terminal/terminal-output.ts";
import { choiceTexts } from "./questions.ts";

/** Variables that a report names. */
const maxNamedVariables = 8;

const file = { host: text, file: text };

const from = list(record({ ...file, "project?": text }));
const config = { file: text, written: yesOrNo };

const rowShape = record({
  server: text,
  config: about("The config file that gets the server", text),
  from,
  transport: text,
  needs: about("Variables that are not set, or sign-in", texts),
  "disabled?": exactly(true),
  new: about("Whether the server was not in the config before", yesOrNo),
  "session?": about("Whether agents share one process of the server, or each has its own", oneOf("shared", "private")),
  "perFolder?": about("Whether the server has one process for each folder that agents work in", exactly(true)),
  "notes?": texts,
  "tools?": number,
  "tokens?": about("Estimated tokens of the tools' definitions", number),
  "problem?": problem,
  "slow?": about("It did not answer in time, started alone either; it may be fine", exactly(true)),
  "left?": about("It did not start, so it stays in its agent's settings and the config does not get it", exactly(true)),
});
export type ServerRow = ValueOf<typeof rowShape>;

export const initShape = record({
  config: record(config),
  projectConfigs: about("With --project", list(record(config))),
  seen: about("Settings files of agents", list(record({ ...file, servers: number, claudikins: yesOrNo }))),
  servers: list(rowShape),
  skipped: about("Servers that stay where they are", list(record({ name: text, ...file, why: text }))),
  conflicts: about(
    "With --dry-run: names that refer to different servers, which stay where they are",
    list(record({ name: text, config: text, choices: list(record({ from, about: text })) })),
  ),
  shared: about("Files of this project; --project imports them as well", list(record({ ...file, servers: number }))),
  hosts: list(
    record({ ...file, result: oneOf("rewired", "not rewired", "would be rewired", "failed"), "error?": text }),
  ),
  "executable?": about(
    "Where claudikins is installed, because the running executable is in the cache of a package runner",
    record({ path: text, installed: yesOrNo }),
  ),
  "diff?": about("With --dry-run", text),
});

/** The tools of a server, their names, and the tokens that their definitions take in an agent's context. */
export type Measured =
  | { tools: number; names: string[]; tokens: number }
  | { tools?: undefined; problem: Problem; isSlow?: true };

export function rowsOf(
  { inventory, config }: SwitchPlan,
  measured: ReadonlyMap<string, Measured>,
  sessions: ServerSessions,
): ServerRow[] {
  const { configFile, servers } = inventory;
  return servers.map(({ name, entry, from, notes, supplied, isThere }) => {
    const session = sessions.get(name);
    const configured = config.servers.get(name);
    const answer = measured.get(name);
    const isSignedOut = answer?.tools === undefined && answer?.problem.code === "AUTH_REQUIRED";
    const problem = answer?.tools === undefined && !isSignedOut ? answer?.problem : undefined;
    const wider = configFile.kind === "user" && !isThere ? widerScope(from) : [];
    const mixed = session?.isMixed ? [mixedText] : [];
    const all = [...wider, ...notes, ...mixed, ...supplied.map((one) => suppliedText(one, wayOf(one, configFile)))];
    return {
      server: name,
      config: configFile.file,
      from: from.map(originJson),
      transport: transportText(configured, entry),
      needs: [...(configured?.needs ?? []), ...(isSignedOut ? ["sign-in"] : [])],
      ...(configured ? {} : { disabled: true as const }),
      new: !isThere,
      ...(session ? { session: session.session } : {}),
      ...(session?.isPerFolder ? { perFolder: true as const } : {}),
      ...(all.length > 0 ? { notes: all } : {}),
      ...(answer?.tools === undefined ? {} : { tools: answer.tools, tokens: answer.tokens }),
      ...(problem ? { problem } : {}),
      ...(answer?.tools === undefined && answer?.isSlow ? { slow: true as const } : {}),
    };
  });
}

/**
 * How agents share each server that is not disabled. `isMixed`: the entry lets them share a state. `isPerFolder`: the server may do something
 * else in each folder.
 */
export type ServerSessions = ReadonlyMap<
  string,
  { session: "shared" | "private"; isMixed: boolean; isPerFolder: boolean }
>;

const mixedText = `its entry says "session": "shared", but it ${privateReason}: agents that work at the same time mix it up. Remove the key, and each gets a process of its own`;

/** What agents that work at the same time should know. */
function privateText(rows: readonly ServerRow[]): string[] {
  const names = rows.filter(({ session, left }) => session === "private" && !left).map(({ server }) => server);
  if (names.length === 0) return [];
  const keep = names.length === 1 ? privateReason : privateReason.replace("keeps", "keep").replace("its", "their");
  return [`note: ${allOf(names)} ${keep}, so each agent has a process of its own ("session": "private")`];
}

/** How to get one process for all folders. */
function perFolderText(rows: readonly ServerRow[]): string[] {
  const names = rows.filter(({ perFolder, left }) => perFolder && !left).map(({ server }) => server);
  if (names.length === 0) return [];
  const use =
    names.length === 1
      ? "may use the folder that it starts in, so it has"
      : "may use the folder that they start in, so they have";
  return [
    `note: ${allOf(names)} ${use} one process for each folder that agents work in. For one process in all folders, add "cwd" to the entry`,
  ];
}

const allOf = (names: readonly string[]) =>
  names.length === 1 ? names[0] : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;

function wayOf({ variable }: Supplied, { kind }: ConfigFile): string {
  if (kind === "project")
    return "set the variable system-wide; do not write its value into the config, which you share";
  return `write the value into the config, now with --env ${variable}=value or later with claudikins config edit`;
}

/** A server that only some projects had is available in all of them once it is in the user's config. */
function widerScope(from: EntryOrigin[]): string[] {
  const folders = from.flatMap(({ folder }) => folder ?? []);
  if (folders.length < from.length) return [];
  return [`it was available only in ${folders.join(" and ")} and is now available in every folder`];
}

function originJson({ host, file, folder }: EntryOrigin): ServerRow["from"][number] {
  return { host, file, ...(folder === undefined ? {} : { project: folder }) };
}

function transportText(server: ServerConfig | undefined, entry: PortableEntry): string {
  if (server?.url !== undefined) return server.transport === "auto" ? "http" : server.transport;
  return server || entry["command"] !== undefined ? "stdio" : "http";
}

/** The settings files and the number of their servers. */
function seenJson(files: readonly FoundFile[]) {
  return files.map(({ agent, file, servers, skipped, left, own, plugin }) => ({
    host: agent.name,
    file: file.path,
    // Servers that the user left out are in both lists.
    servers: servers.length + left.length + skipped.filter((one) => !left.some(({ name }) => name === one.name)).length,
    claudikins: own.length > 0 || plugin !== undefined,
  }));
}

function conflictsJson(inventories: readonly Inventory[]) {
  return inventories.flatMap(({ configFile, conflicts }) =>
    conflicts.map((conflict) => {
      const texts = choiceTexts(conflict, maskOf(conflict.choices.map(({ entry }) => entry)));
      const choices = conflict.choices.map(({ from }, place) => ({
        from: from.map(originJson),
        about: texts[place] ?? "",
      }));
      return { name: conflict.name, config: configFile.file, choices };
    }),
  );
}

function hostsJson({ plans, refused }: SwitchPlan, written: Applied[], isDry: boolean): object[] {
  const notPlanned = refused.map(({ error, ...file }) => ({ ...file, result: "failed", error: error.message }));
  const planned = plans.map(({ found }) => {
    const done = written.find(({ file }) => file === found.file.path);
    const result = done ? (done.error ? "failed" : "rewired") : isDry ? "would be rewired" : "not rewired";
    return {
      host: found.agent.name,
      file: found.file.path,
      result,
      ...(done?.error ? { error: done.error.message } : {}),
    };
  });
  return [...planned, ...notPlanned];
}

/** Names the agents that the user wants to change and that are not there. */
export function absentText({ files }: FoundFiles, named: ReadonlySet<string>): string {
  return agents
    .filter(({ name }) => named.has(name) && !files.some(({ agent }) => agent.name === name))
    .map(({ title }) => `note: ${title} is not on this machine: its settings folder does not exist\n`)
    .join("");
}

export function inventoryTable(rows: ServerRow[], columns: number | undefined): string {
  return tableOf(rows, columns, [
    ["server", ({ server }) => server],
    [{ text: "from" }, ({ from }) => [...new Set(from.map(({ host }) => host))].join(", ")],
    ["transport", ({ transport }) => transport],
    ["needs", ({ needs, disabled }) => (disabled ? stateCell("disabled") : needs.join(", ") || "-")],
    [{ number: "tools" }, ({ problem, tools }) => (problem ? stateCell("failed") : String(tools ?? "-"))],
    [{ number: "tokens (about)" }, ({ tokens }) => (tokens === undefined ? "-" : grouped(tokens))],
  ]);
}

/** The tokens of all definitions, without and with claudikins. */
export function tokensText(rows: ServerRow[], config: Config): string {
  const measured = rows.filter(({ tokens }) => tokens !== undefined);
  if (measured.length === 0) return "";
  const sum = (key: "tools" | "tokens") => grouped(measured.reduce((all, row) => all + (row[key] ?? 0), 0));
  return `\n${sum("tools")} tools of ${counted(measured.length, "server")}: about ${sum("tokens")} tokens of definitions (estimated). With claudikins: at most ${surfaceTokensOf(config, measured.length, measured.length)}.\n`;
}

export function seenText({ found }: Survey): string {
  const lines = seenJson(found.files).map(({ host, file, servers, claudikins }) => {
    const title = agents.find(({ name }) => name === host)?.title ?? host;
    const count = servers === 0 ? "no" : String(servers);
    const noun = servers === 1 ? "server" : "servers";
    const what = claudikins ? `claudikins, and ${count} other ${noun}` : `${count} ${noun}`;
    return `${title} (${file}): ${what}\n`;
  });
  const unreadable = found.problems.map(({ file }) => `${file}: cannot be read\n`);
  if (lines.length + unreadable.length > 0) return [...lines, ...unreadable].join("");
  return `No agent with MCP settings was found. Looked for: ${agents.map(({ title }) => title).join(", ")}.\n`;
}

/** The servers that did not answer, and why. */
export function warningsText(rows: readonly ServerRow[]): string {
  return linesText(rows.flatMap(({ problem }) => (problem ? [`${warningLabel} ${problem.message}`] : [])));
}

/** `withheld` are the names of variables that servers no longer get. */
export function notesText(
  rows: readonly ServerRow[],
  found: FoundFiles,
  plans: readonly SwitchPlan[],
  withheld: readonly string[],
): string {
  const isMoving = rows.some((row) => row.new && !row.left && row.transport === "stdio");
  return linesText([
    ...rows.flatMap(({ server, notes = [] }) => notes.map((note) => `note: ${server}: ${note}`)),
    ...privateText(rows),
    ...perFolderText(rows),
    ...plans.flatMap(({ notes }) => notes).map((text) => `note: ${text}`),
    ...found.files.flatMap(({ skipped }) =>
      skipped.map(({ name, file, why }) => `note: ${name} stays in ${file}: ${why}`),
    ),
    ...found.shared.map(
      ({ file, servers }) =>
        `note: ${file} has ${counted(servers, "server")} of this project: to import them, add --project`,
    ),
    ...(rows.some(({ left }) => left) ? [`note: ${againText}`] : []),
    ...(rows.some((row) => row.problem && row.new && !row.left) ? [`note: ${importedText}`] : []),
    ...(isMoving && withheld.length > 0 ? [`note: ${withheldText(withheld)}`] : []),
    ...found.problems.map(({ error }) => `error: ${error.message}`),
  ]);
}

function withheldText(names: readonly string[]): string {
  const rest = names.length - maxNamedVariables;
  const shown = names.slice(0, maxNamedVariables).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
  return `servers get the variables that say where things are, and not ${shown}. To pass one on, add it to "inherit" of the server's entry`;
}

const againText =
  "to try the servers that did not start again: claudikins init --timeout 2m. To import them anyway: claudikins init --no-start";

const importedText =
  "servers that do not start are imported as well. To check them later: claudikins doctor. To undo what init does: claudikins restore";

function linesText(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `\n${lines.join("\n")}\n`;
}

/** The first failure, even if other files were changed. */
export function initFailure(
  { found }: Survey,
  plans: readonly SwitchPlan[],
  written: readonly Applied[],
): ClaudikinsError | undefined {
  const refused = plans.flatMap((plan) => plan.refused);
  const errors = [...found.problems, ...refused, ...written].flatMap(({ error }) => error ?? []);
  const [first] = errors;
  if (!first) return undefined;
  const rest = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return new ClaudikinsError(first.code, `Some agents' settings were not changed: ${first.message}${rest}`, {
    hint: first.hint,
  });
}

/** The result of a run. */
export interface Done {
  survey: Survey;
  plans: readonly SwitchPlan[];
  rows: ServerRow[];
  written: Applied[];
  isDry: boolean;
  needed: Needed | undefined;
  /** Undefined unless it was a dry run. */
  diffs: string[] | undefined;
}

export function initJson({ survey, plans, rows, written, isDry, needed, diffs }: Done): object {
  const { found, inventories } = survey;
  const [config, ...projectConfigs] = plans.map(({ inventory: { configFile }, isNew }) => ({
    file: configFile.file,
    written: !isDry && isNew,
  }));
  return {
    config,
    projectConfigs,
    seen: seenJson(found.files),
    servers: rows,
    skipped: found.files.flatMap(({ skipped }) => skipped),
    conflicts: conflictsJson(inventories),
    shared: found.shared,
    hosts: plans.flatMap((plan) => hostsJson(plan, written, isDry)),
    ...(needed ? { executable: { path: needed.path, installed: written.length > 0 } } : {}),
    diff: diffs?.join("\n"),
  };
}
