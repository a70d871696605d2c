/** Names for completions, from the config, the registry, the catalog and the environment. No server is started. */

import { ageText, durationText } from "../../base/duration.ts";
import { isObject } from "../../base/json-object.ts";
import { openConfigFile } from "../../config/config-file.ts";
import { loadConfig } from "../../config/load.ts";
import { configText, outcomeWord } from "../../programs/trace/record-text.ts";
import { readSummaries } from "../../programs/trace/store.ts";
import { openStore } from "../../store/open.ts";
import { hasOtherEdits, visibleTools } from "../../tools/catalog/config-entry.ts";
import { storedServers } from "../../tools/catalog/registries.ts";
import { type RegistryServer, toolId } from "../../tools/model.ts";
import { firstSentence } from "../../tools/signature.ts";
import type { Completion } from "../command.ts";
import type { Io } from "../io.ts";
import { chosenOwner } from "../output/nouns.ts";

/** Tools that completion offers. If more fit, servers are offered first. */
const maxCompletedTools = 200;

export interface Candidate {
  value: string;
  about?: string | undefined;
  /** The value is incomplete, so no space follows it. */
  isOpen?: boolean;
}

export interface CompletionContext {
  /** The word that is being typed. For `--flag=value`, only the value. */
  current: string;
  /** The arguments before it. */
  positionals: string[];
  /** The values of flags. */
  flags: ReadonlyMap<string, string>;
}

export type CompletionIo = Pick<Io, "env" | "cwd">;

/** Returns the names of one kind. Throws what loading the config and the registry throws. */
export async function completedNames(
  kind: Exclude<Completion, "file" | "folder">,
  place: CompletionContext,
  surroundings: CompletionIo,
): Promise<Candidate[]> {
  switch (kind) {
    case "server":
      return [...(await configOf(place, surroundings)).servers.values()].map(({ name, description }) => ({
        value: name,
        about: description,
      }));
    case "entry": {
      const flag = place.flags.get("config");
      const { entries } = openConfigFile({ flag, user: place.flags.has("user"), ...surroundings });
      return [...entries.keys()].map((value) => ({ value }));
    }
    case "switch": {
      const servers = await completedNames("entry", place, surroundings);
      const config = await configOf(place, surroundings);
      const all = storedServers(config).servers;
      const ours = all.filter(({ name }) => servers.some(({ value }) => value === name));
      return [...servers, ...tools(ours, place.current).filter(({ value }) => value.includes("."))];
    }
    case "tool":
      return tools(await known(place, surroundings), place.current);
    case "parameter":
      return parameters(await known(place, surroundings), place);
    case "category":
      return [...new Set((await known(place, surroundings)).map(({ category }) => category))].map((value) => ({
        value,
      }));
    case "catalog": {
      const { catalogServers } = await import("../../tools/server-catalog.ts");
      return catalogServers().map(({ name, description }) => ({ value: name, about: description }));
    }
    case "execution": {
      await using store = openStore(surroundings.env);
      return [
        { value: "last", about: "The latest execution of this config" },
        ...(await readSummaries(store)).map((each) => ({
          value: each.id,
          about: `${ageText(Date.now() - each.at)}, ${each.startedBy}, ${outcomeWord(each)}, ${durationText(each.durationMs)}`,
        })),
      ];
    }
    case "door":
      return (await configOf({ flags: new Map(place.flags).set("door", "") }, surroundings)).doors.map((value) => ({
        value,
      }));
    case "program": {
      const { ProgramLibrary } = await import("../../programs/saved/library.ts");
      const programs = new ProgramLibrary((await configOf(place, surroundings)).savedPrograms).all();
      return programs.map(({ name, description }) => ({ value: name, about: firstSentence(description) }));
    }
    case "schedule": {
      const { Schedules } = await import("../../programs/saved/schedules.ts");
      const schedules = new Schedules((await configOf(place, surroundings)).savedPrograms).all();
      return schedules.map(({ id, program, cron }) => ({ value: id, about: `${program}, ${cron}` }));
    }
    case "trigger": {
      const { sourceText, Triggers } = await import("../../programs/events/stored-triggers.ts");
      const triggers = new Triggers((await configOf(place, surroundings)).savedPrograms).all();
      return triggers.map((each) => ({ value: each.id, about: `${each.program}, ${sourceText(each)}` }));
    }
    case "input": {
      const [{ ProgramLibrary }, { inputsOf }] = await Promise.all([
        import("../../programs/saved/library.ts"),
        import("../../programs/saved/model.ts"),
      ]);
      const [name = ""] = place.positionals;
      const program = new ProgramLibrary((await configOf(place, surroundings)).savedPrograms).find(name);
      return program ? inputsOf(program).map(([input]) => ({ value: `${input}=`, isOpen: true })) : [];
    }
    case "kept":
      return keptExecutions(place, surroundings);
    case "approval":
      return waitingCalls(surroundings);
    case "person":
      return peopleNames(place, surroundings);
    case "secret":
      return secretNames(place, surroundings);
    case "token":
      return tokenNames(place, surroundings);
    case "variable":
      return Object.keys(surroundings.env).map((value) => ({ value }));
  }
}

function configOf({ flags }: Pick<CompletionContext, "flags">, { env, cwd }: CompletionIo) {
  return loadConfig({ flag: flags.get("config"), door: flags.get("door") || undefined, cwd, env });
}

/** The configured servers in the registry, without denied tools. Servers whose tools are edited in another way now are left out. */
async function known(place: CompletionContext, surroundings: CompletionIo): Promise<RegistryServer[]> {
  const config = await configOf(place, surroundings);
  const { servers } = config;
  return storedServers(config)
    .servers.filter((server) => servers.has(server.name) && !hasOtherEdits(server, servers.get(server.name)))
    .map((server) => visibleTools(server, servers.get(server.name)));
}

/** The stored executions of this config, or of the door. */
async function keptExecutions({ flags }: CompletionContext, { env, cwd }: CompletionIo): Promise<Candidate[]> {
  await using store = openStore(env);
  if (!store.exists) return [];
  const { viewOf } = await import("../../programs/execution/stored-executions.ts");
  const all = await store.executions.list(chosenOwner(flags.get("config"), { cwd, env }));
  const rows = all.filter((row) => viewOf(row).door === (flags.get("door") || undefined));
  return rows.map(({ id, startedAt, state }) => ({
    value: id,
    about: `${ageText(Date.now() - startedAt)}, ${state}`,
  }));
}

/** The calls of all configs that wait for approval. */
async function waitingCalls({ env }: CompletionIo): Promise<Candidate[]> {
  await using store = openStore(env);
  if (!store.exists) return [];
  const { Approvals } = await import("../../policy/approvals/approvals.ts");
  await using approvals = new Approvals({ store });
  const rows = await approvals.open();
  return rows.map(({ id, server, tool, askedAt }) => ({
    value: id,
    about: `${toolId(server, tool)}, ${ageText(Date.now() - askedAt)}`,
  }));
}

/** The people who have signed in with this config. */
async function peopleNames({ flags }: CompletionContext, { env, cwd }: CompletionIo): Promise<Candidate[]> {
  await using store = openStore(env);
  const owner = chosenOwner(flags.get("config"), { cwd, env });
  const people = (await store.people.list()).filter(({ config }) => config === owner);
  const aboutOf = (revokedAt: number | null) => (revokedAt === null ? "may sign in" : "revoked");
  return people.map(({ id, name, revokedAt }) => ({ value: id, about: `${name}, ${aboutOf(revokedAt)}` }));
}

/** The secrets that are set, and those that the config or the user's own config names. */
async function secretNames({ flags }: CompletionContext, { env, cwd }: CompletionIo): Promise<Candidate[]> {
  const { listedSecrets } = await import("../../config/secrets/listed.ts");
  const all = await listedSecrets({ flag: flags.get("config"), cwd, env });
  return all.map(({ name, place, servers }) => ({
    value: name,
    about: [place === null ? "not set" : `in the ${place}`, ...servers].join(", "),
  }));
}

/** The ids of all tokens, and the names of the tokens of this config. */
async function tokenNames({ flags }: CompletionContext, { env, cwd }: CompletionIo): Promise<Candidate[]> {
  const { readTokens, tokenId } = await import("../../serve/tokens/token-file.ts");
  const tokens = readTokens(env);
  const owner = chosenOwner(flags.get("config"), { cwd, env });
  const ids = tokens.map((token) => {
    const { name, door, config } = token;
    const opens = door === undefined ? "every address" : `/${door}`;
    return { value: tokenId(token), about: `${name ?? "no name"}, ${opens}, ${configText(config)}` };
  });
  const names = tokens.flatMap(({ name, config }) => (name !== undefined && config === owner ? [name] : []));
  return [...ids, ...[...new Set(names)].map((value) => ({ value, about: "The token with this name" }))];
}

function tools(servers: RegistryServer[], current: string): Candidate[] {
  const all = servers.flatMap((server) =>
    server.tools.map(({ name, description }) => ({
      value: toolId(server.name, name),
      about: firstSentence(description),
    })),
  );
  const fitting = all.filter(({ value }) => value.startsWith(current));
  if (fitting.length <= maxCompletedTools || current.includes(".")) return all;
  return servers.map(({ name, description }) => ({ value: `${name}.`, about: description, isOpen: true }));
}

/** `key=`, or `key=value` if the values are known. After a server's name alone, the names of its tools. */
async function parameters(
  servers: RegistryServer[],
  { positionals, current }: CompletionContext,
): Promise<Candidate[]> {
  const [first = "", second = ""] = positionals;
  const all = servers.flatMap((server) => server.tools.map((tool) => ({ tool, id: toolId(server.name, tool.name) })));
  const found = all.find(({ id }) => id === first) ?? all.find(({ id }) => id === toolId(first, second));
  if (!found) {
    const server = positionals.length === 1 ? servers.find(({ name }) => name === first) : undefined;
    return (server?.tools ?? []).map(({ name, description }) => ({ value: name, about: firstSentence(description) }));
  }
  const { inputSchema } = found.tool;
  const { properties } = inputSchema;
  if (!isObject(properties)) return [];
  const used = new Set(positionals.map((word) => /^(.*?):?=/s.exec(word)?.[1]));
  const { formsOf } = await import("../../programs/argument-words.ts");
  return Object.entries(properties)
    .filter(([key]) => !used.has(key))
    .flatMap(([key, property]): Candidate[] => {
      const { types, values } = formsOf(property, inputSchema);
      const named = values.length === 0 && types.has("boolean") ? [true, false] : values;
      const texts = named.filter((value) => typeof value !== "object").map((value) => `${key}=${value}`);
      if (texts.length > 0 && current.startsWith(`${key}=`)) return texts.map((value) => ({ value }));
      const { description } = isObject(property) ? property : {};
      const about = typeof description === "string" ? firstSentence(description) : undefined;
      return [{ value: `${key}=`, about, isOpen: true }];
    });
}
