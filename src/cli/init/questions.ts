/** Finds the servers for init, and asks the user: which of several gets a name, and what an agent has asked the user for. */

import { ClaudikinsError } from "../../base/errors.ts";
import { didYouMean } from "../../base/near-names.ts";
import type { PortableEntry } from "../../config/config-file.ts";
import { variablesIn } from "../../config/expand.ts";
import { type Redact, speaksOfSecret } from "../../servers/values/secrets.ts";
import { chooseOne, keepAll, leaveAll, wishesOf } from "../../setup/agents/choices.ts";
import { type Conflict, configOrigin, essence, type Inventory, type MergedServer } from "../../setup/agents/merge.ts";
import { namesFor } from "../../setup/agents/plain-secrets.ts";
import { maskOf } from "../../setup/agents/secrets.ts";
import { chosenAgents } from "../../setup/agents/supported/agents.ts";
import type { Supplied } from "../../setup/agents/supported/model.ts";
import { isEmpty, nothingFound, type Survey, takeSurvey } from "../../setup/agents/switch-over.ts";
import { filled } from "../../setup/settings/add-server.ts";
import { parsePairs } from "../flags/flags.ts";
import type { Io } from "../io.ts";
import { ask, choose } from "../terminal/prompt.ts";
import { type InitContext, keepSecret } from "./context.ts";

interface ImportFlags {
  env: string[];
  secrets?: string | undefined;
  host: string[];
  prefer: string[];
  project?: boolean | undefined;
  "keep-both"?: boolean | undefined;
  config?: string | undefined;
}

/** Finds the servers, and settles which of several gets a name and which values variables get. Throws USAGE and SERVER_NOT_FOUND. */
export async function surveyed(flags: ImportFlags, context: InitContext): Promise<Survey> {
  const { io, asks, isDry, named, surroundings } = context;
  const pairs = parsePairs(flags.env, "--env", { form: /^([A-Za-z_]\w*)=([\s\S]+)$/, shown: "NAME=value" });
  const given = new Map([...pairs].map(([name, value = ""]) => [name, value]));
  const survey = await takeSurvey(chosenAgents(flags.host), {
    ...surroundings,
    project: flags.project === true,
    config: flags.config,
    named,
    wishes: wishesOf(flags.prefer, flags["keep-both"] === true),
  });
  const { inventories } = survey;
  if (isDry) for (const inventory of inventories) for (const each of inventory.conflicts) leaveAll(inventory, each);
  else if (asks) await askAboutConflicts(inventories, io);
  else refuseConflicts(inventories);
  if (named.size === 0 && !isDry && isEmpty(survey)) throw nothingFound(survey);
  const filled = inventories.filter(({ configFile }) => !flags.project || configFile.kind === "user");
  await fillIn(
    filled.flatMap(({ servers }) => servers),
    given,
    context,
    { keepsSecrets: flags.secrets !== "keep" && !isDry },
  );
  return survey;
}

/** Asks about each name that refers to different servers. */
async function askAboutConflicts(inventories: readonly Inventory[], io: Io): Promise<void> {
  for (const inventory of inventories) {
    for (const conflict of inventory.conflicts.splice(0)) {
      const { name, choices } = conflict;
      const mask = maskOf(choices.map(({ entry }) => entry));
      const texts = [...choiceTexts(conflict, mask), "all of them, under different names"];
      const chosen = choices[await choose(io, `${name} refers to different servers:`, texts)];
      if (chosen) chooseOne(inventory, conflict, chosen, "another server of this name was chosen");
      else keepAll(inventory, conflict);
    }
  }
}

/** Refuses name conflicts if the user cannot be asked. Throws USAGE. */
function refuseConflicts(inventories: readonly Inventory[]): void {
  const conflicts = inventories.flatMap((each) => each.conflicts);
  const [first] = conflicts;
  if (!first) return;
  const what = conflicts.length === 1 ? "One name refers" : `${conflicts.length} names refer`;
  throw new ClaudikinsError("USAGE", `${what} to different servers:\n${conflictLines(conflicts)}`, {
    hint: `${decisionText(inventories)} Nothing was changed.`,
  });
}

/**
 * Replaces variables in new entries with given values, and with values that the user types for what an agent supplied. Passwords become
 * secrets of the user. Variables without a value are kept. Throws USAGE for a given variable that no entry refers to.
 */
async function fillIn(
  servers: readonly MergedServer[],
  given: ReadonlyMap<string, string>,
  context: InitContext,
  { keepsSecrets }: { keepsSecrets: boolean },
): Promise<void> {
  const { io, asks } = context;
  const fresh = servers.filter(({ isThere }) => !isThere);
  const variables = new Set(fresh.flatMap(({ entry }) => [...variablesIn(entry)]));
  for (const name of given.keys()) {
    if (variables.has(name)) continue;
    throw new ClaudikinsError("USAGE", `--env ${name}: no imported server refers to \${${name}}`, {
      hint: [didYouMean(name, [...variables]), "Values are written only to your own config. Nothing was changed."]
        .filter(Boolean)
        .join(" "),
    });
  }
  const typed = new Map<string, string>();
  for (const server of fresh) {
    const passwords: { server: MergedServer; at: ["env"]; key: string; value: string }[] = [];
    for (const one of server.supplied) {
      const isKnown = given.has(one.variable) || typed.has(one.source) || io.env[one.variable];
      if (asks && !isKnown) typed.set(one.source, await askFor(server.name, one, io));
      const value = given.get(one.variable) ?? typed.get(one.source);
      if (value && one.isSecret && keepsSecrets) passwords.push({ server, at: ["env"], key: one.variable, value });
      else if (value) server.entry = filled(server.entry, one.variable, value);
    }
    const kept = new Map<string, boolean>();
    for (const [{ key, value }, name] of await namesFor(passwords, io.env)) {
      const isKept = kept.get(name) ?? (await keepSecret(name, value, context));
      kept.set(name, isKept);
      server.entry = filled(server.entry, key, isKept ? `\${secret:${name}}` : value);
    }
    for (const [name, value] of given) server.entry = filled(server.entry, name, value);
    const left = variablesIn(server.entry);
    server.supplied = server.supplied.filter(({ variable }) => left.has(variable));
  }
}

/** The answer is hidden, because any value may be a secret. */
async function askFor(server: string, { variable, question, default: usual }: Supplied, io: Io): Promise<string> {
  const nothing = usual === undefined ? "press Enter to keep the variable" : `press Enter for ${usual}`;
  const text = `${server} needs ${variable}: ${question}\n${variable} (${nothing}): `;
  return (await ask(io, text, { hidden: true })).trim() || (usual ?? "");
}

/** Lists the names that refer to different servers, with the choices below each. */
export function conflictLines(conflicts: readonly Conflict[]): string {
  const mask = maskOf(conflicts.flatMap(({ choices }) => choices.map(({ entry }) => entry)));
  return conflicts
    .flatMap((conflict) => [`  ${conflict.name}`, ...choiceTexts(conflict, mask).map((text) => `    ${text}`)])
    .join("\n");
}

/** One line per choice: its origin and what it starts. If that looks the same, the line shows the settings that differ. */
export function choiceTexts({ choices }: Conflict, mask: Redact): string[] {
  const short = choices.map(({ entry }) => mask(entryText(entry)));
  const isUnique = (label: string) => short.filter((other) => other === label).length === 1;
  const differing = differingSettings(choices.filter((_, place) => !isUnique(short[place] ?? "")));
  const labels = choices.map(({ entry }, place) => {
    const label = short[place] ?? "";
    return isUnique(label) ? label : mask(entryText(entry, differing));
  });
  return choices.map(({ from }, place) => {
    const where = from.map(({ host, folder }) => (folder === undefined ? host : `${host} (${folder})`));
    const label = labels[place] ?? "";
    const looksTheSame = labels.filter((other) => other === label).length > 1;
    return `${[...new Set(where)].join(", ")}: ${label}${looksTheSame ? "; a hidden value differs" : ""}`;
  });
}

const headersHelper = "headersHelper";

/** What the entry starts or reaches, with the names of its variables and headers, and the values of these settings. */
function entryText(entry: PortableEntry, shown: ReadonlySet<string> = new Set()): string {
  const { command, args, url, serverUrl, httpUrl } = entry;
  const label =
    command === undefined ? String(url ?? serverUrl ?? httpUrl) : [command, ...((args as string[]) ?? [])].join(" ");
  const settings = settingsOf(entry);
  const named = Object.keys({ ...(entry["env"] as object), ...(entry["headers"] as object) });
  const helper = settings.has(headersHelper) ? [headersHelper] : [];
  const names = new Set([...named, ...helper, ...[...shown].filter((name) => settings.has(name))]);
  const texts = [...names].map((name) => {
    if (!shown.has(name)) return name;
    // The line of a helper may contain a secret anywhere.
    return `${name}=${speaksOfSecret(name) || name === headersHelper ? "***" : settings.get(name)}`;
  });
  return texts.length === 0 ? label : `${label} (with ${texts.join(", ")})`;
}

/** The names of the settings in which the choices differ. */
function differingSettings(choices: Conflict["choices"]): Set<string> {
  const all = choices.map(({ entry }) => settingsOf(entry));
  const names = all.flatMap((settings) => [...settings.keys()]);
  return new Set(names.filter((name) => new Set(all.map((settings) => settings.get(name))).size > 1));
}

/** Everything that distinguishes the entry but its command and its address, as texts by name. */
function settingsOf(entry: PortableEntry): Map<string, string> {
  const { command, args, url, env, headers, ...others } = essence(entry);
  const all = Object.entries({ ...others, ...(env as object), ...(headers as object) });
  return new Map(all.map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]));
}

/** Explains the flags that decide the first conflict. */
export function decisionText(inventories: readonly Inventory[]): string {
  const [first] = inventories.flatMap((each) => each.conflicts);
  const origin = first?.choices.at(-1)?.from[0];
  const whose = origin?.folder ?? origin?.host ?? configOrigin;
  const isThere = first?.choices.some((choice) => choice.isThere);
  const own = isThere ? `To keep the entry of your config as it is: --prefer ${first?.name}=${configOrigin}. ` : "";
  return `${own}To keep all of them under different names: --keep-both. To import only one and leave the others where they are: --prefer ${first?.name}=${whose}. To let the servers of ${whose} keep their names and rename the others: --prefer ${whose}.`;
}
