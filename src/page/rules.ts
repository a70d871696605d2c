/**
 * Shows doors, rules, labels and edits of tools on the page, and changes them in the config. The commands use the same functions to write
 * them.
 */

import { ClaudikinsError, toClaudikinsError } from "../base/errors.ts";
import { statsOf } from "../base/files.ts";
import { isObject, type JsonObject, objectAt, stringsIn } from "../base/json-object.ts";
import { type ConfigFile, openConfigFile, type WhichConfig } from "../config/config-file.ts";
import { parseJson } from "../config/edit/json.ts";
import type { Config } from "../config/load.ts";
import { pathText } from "../config/policy.ts";
import { agentsByDoor } from "../setup/agents/agent-doors.ts";
import { changePolicies, requireTrusted } from "../setup/settings/change-policy.ts";
import { addDoor, doorOf, doorsIn, removeDoors } from "../setup/settings/doors.ts";
import { changeEdit } from "../setup/settings/edit-tool.ts";
import { changeLabels } from "../setup/settings/labels.ts";
import type { ChangedText } from "../setup/settings/policy-changes.ts";
import { type OwnTool, ownTool } from "../setup/settings/switches.ts";
import { toolId } from "../tools/model.ts";
import type { Body } from "./bodies.ts";
import type { PageDoor, PageEdit, PageLabels, PageRule, PageRules, PageToken } from "./contract.ts";
import { RefusedRequest } from "./guard.ts";
import type { PageParts } from "./parts.ts";
import type { ToolTable } from "./tool-table.ts";

type RulesParts = Pick<PageParts, "app" | "env" | "isAnswered" | "openDoor" | "tokens"> & { toolTable: ToolTable };

/** The number of tools of a door that are named because their calls wait for a person. */
const maxShownAsked = 20;

const place = "page";

export class RuleChanges {
  readonly #options: RulesParts;

  constructor(options: RulesParts) {
    this.#options = options;
  }

  /** Changes when one of the files has changed. */
  mark(): string {
    const stamps = filesOf(this.#options.app.config).map((file) => {
      const found = statsOf(file);
      return `${found?.mtimeMs} ${found?.size}`;
    });
    return Bun.hash(stamps.join()).toString(36);
  }

  async read(): Promise<PageRules> {
    const { config } = this.#options.app;
    const files = filesOf(config).map((file) => openConfigFile(this.#which(file)));
    return {
      servers: [...config.servers.values()].flatMap(({ name, isSavedPrograms, isModel }) =>
        isSavedPrograms || isModel ? [] : [name],
      ),
      doors: await this.#doors(files[0]),
      rules: files.flatMap(rulesIn),
      labels: files.flatMap(labelsIn),
      edits: files.flatMap(editsIn),
      canChange: files.length > 0,
    };
  }

  async addDoor({ name, ...parts }: Body<"door">): Promise<ChangedText> {
    const configFile = await this.#open();
    return addDoor(name, doorOf(parts), configFile, this.#options.env, { place });
  }

  async removeDoor(name: string): Promise<ChangedText> {
    return removeDoors([name], await this.#open(), this.#options.env, place);
  }

  async rule({ isNew, ...change }: Body<"rule">): Promise<ChangedText | undefined> {
    const { isAnswered } = this.#options;
    const which = this.#which(fileOfServer(change.server, this.#options.app.config));
    // A pattern that is removed may no longer match any tool.
    const tool = isNew ? (await this.#tool(change.server, change.tool)).tool : change.tool;
    if ("confirm" in change && isNew && tool.includes("*")) {
      throw new RefusedRequest(400, "Name one tool: this rule takes no pattern");
    }
    return changePolicies([{ ...change, tool }], which, { isAnswered, place });
  }

  async label({ server, tool, labels }: Body<"label">): Promise<ChangedText | undefined> {
    const found = await this.#tool(server, tool, labels !== null);
    return changeLabels(found, labels ?? undefined, this.#options.env, place);
  }

  async edit({ server, tool, name, description, reset }: Body<"edit">): Promise<ChangedText | undefined> {
    const found = await this.#tool(server, tool, !reset);
    return (await changeEdit(found, { name, description, reset }, this.#options.env, place)).changed;
  }

  async #doors(configFile: ConfigFile | undefined): Promise<PageDoor[]> {
    if (!configFile) return [];
    const { app, env, openDoor, toolTable } = this.#options;
    const { file } = configFile;
    const tokens = this.#tokens();
    const users = await agentsByDoor({ env, cwd: app.cwd, platform: process.platform }, file);
    return Promise.all(
      Object.entries(doorsIn(configFile)).map(async ([name, entry]) => {
        const tools = objectAt(entry, ["tools"]);
        const shown = {
          name,
          agents: users.get(name) ?? [],
          allow: stringsIn(tools["allow"]),
          deny: stringsIn(tools["deny"]),
          ask: Object.keys(objectAt(tools, ["confirm"])),
          tokens: tokens.filter(({ door }) => door === name),
        };
        try {
          await using seen = await openDoor(name);
          const { servers } = seen.config;
          const { tools: rows } = await toolTable.read(name);
          const asked = rows.filter(({ state }) => state === "ask").map((row) => toolId(row.server, row.name));
          return {
            ...shown,
            servers: [...servers.keys()],
            tools: rows.length,
            asked: asked.slice(0, maxShownAsked),
            askedMore: Math.max(0, asked.length - maxShownAsked),
          };
        } catch (error) {
          return {
            ...shown,
            servers: [],
            tools: 0,
            asked: [],
            askedMore: 0,
            problem: toClaudikinsError(error).message,
          };
        }
      }),
    );
  }

  /** A file of tokens that cannot be read is reported where it is used. */
  #tokens(): PageToken[] {
    try {
      return this.#options.tokens();
    } catch {
      return [];
    }
  }

  /** A tool that is named in the config, or with `isNew` a tool of the server. */
  async #tool(server: string, tool: string, isNew = true): Promise<OwnTool> {
    const which = this.#which(fileOfServer(server, this.#options.app.config));
    const configFile = await this.#trusted(which);
    return isNew ? ownTool(toolId(server, tool), which) : { server, tool, configFile, isUsable: true };
  }

  #open(): Promise<ConfigFile> {
    const [file] = filesOf(this.#options.app.config);
    return this.#trusted(this.#which(file));
  }

  async #trusted(which: WhichConfig): Promise<ConfigFile> {
    const configFile = openConfigFile(which);
    await requireTrusted(configFile, this.#options.env, this.#options.isAnswered);
    return configFile;
  }

  #which(file: string | undefined): WhichConfig {
    if (file === undefined) throw noFile();
    return { flag: file, cwd: "/", env: this.#options.env };
  }
}

/** The error for the demo, which has no file to write to. */
export function noFile(): ClaudikinsError {
  return new ClaudikinsError("CONFIG_NOT_FOUND", "The demo has no config file to write to", {
    hint: "Make a config with claudikins add or claudikins init.",
  });
}

/** The file that has the server's entry: for a server that a project's config takes from the user's own config, this is the user's file. */
export function fileOfServer(server: string, { origin, extended, servers, disabled }: Config): string {
  if (extended && (servers.get(server) ?? disabled.get(server))?.own) return extended.file;
  if (origin.kind === "demo") throw noFile();
  return origin.file;
}

/** The file of the config, and the user's own if it is used beside it. */
function filesOf({ origin, extended }: Config): string[] {
  if (origin.kind === "demo") return [];
  return extended ? [origin.file, extended.file] : [origin.file];
}

/** The rules of the entries, which the page can remove, and the rules of all servers. */
function rulesIn(configFile: ConfigFile): PageRule[] {
  const { entries, text, file } = configFile;
  const common = objectAt(parseJson(text, file), ["policy"]);
  const ofEntries = [...entries].flatMap(([server, entry]) =>
    rulesOf(entry, ["mcpServers", server]).map((rule) => ({ ...rule, server })),
  );
  const conditions = stringsIn(common["rules"]).map((rule, index): PageRule => {
    const effect = rule.trim().startsWith("deny") ? "deny" : "condition";
    return { pattern: rule, effect, line: pathText(["policy", "rules", index]) };
  });
  return [...ofEntries, ...rulesOf(common, ["policy"]), ...conditions];
}

function rulesOf({ allow, deny, confirm }: JsonObject, path: string[]): PageRule[] {
  const modes = typeof confirm === "string" ? { "*": confirm } : isObject(confirm) ? confirm : {};
  const listed = (effect: "allow" | "deny", patterns: unknown) =>
    stringsIn(patterns).map((pattern) => ({ pattern, effect, line: pathText([...path, effect]) }));
  const asked = Object.entries(modes).map(([pattern, mode]) => ({
    pattern,
    effect: mode as PageRule["effect"],
    line: pathText([...path, "confirm"]),
  }));
  return [...listed("allow", allow), ...listed("deny", deny), ...asked];
}

function labelsIn({ entries, text, file }: ConfigFile): PageLabels[] {
  const common = objectAt(parseJson(text, file), ["policy"]);
  return [
    ...[...entries].flatMap(([server, { labels }]) => labelsOf(labels).map((each) => ({ ...each, server }))),
    ...labelsOf(common["labels"]),
  ];
}

function labelsOf(labels: unknown): PageLabels[] {
  const all = Array.isArray(labels) ? { "*": labels } : isObject(labels) ? labels : {};
  return Object.entries(all).map(([pattern, each]) => ({ pattern, labels: stringsIn(each) }));
}

/** Values of arguments may be secrets, so only their names are shown. */
function editsIn({ entries, text, file }: ConfigFile): PageEdit[] {
  return Object.entries(objectAt(parseJson(text, file), ["tools"])).flatMap(([id, entry]) => {
    const server = [...entries.keys()]
      .filter((name) => id.startsWith(`${name}.`))
      .sort((one, other) => other.length - one.length)[0];
    if (server === undefined) return [];
    const { name, description } = objectAt(entry, []);
    return {
      server,
      tool: id.slice(server.length + 1),
      name: typeof name === "string" ? name : undefined,
      description: typeof description === "string" ? description : undefined,
      arguments: Object.keys(objectAt(entry, ["arguments"])),
    };
  });
}
