/** `claudikins add`: adds a server to the config: by name, as a command, a URL or a pasted entry. */

import { haveSecrets } from "../../agents/secrets.ts";
import { isPasted, readPasted } from "../../agents/supported/pasted.ts";
import { networkTypeOf } from "../../config/address.ts";
import { serverFolder } from "../../config/discover.ts";
import { checkTrust, isAnsweredFor } from "../../config/trust/require.ts";
import { ClaudikinsError } from "../../errors.ts";
import { about, either, exactly, list, named, number, problem, record, text, texts } from "../../json-shape.ts";
import { counted } from "../../outcome-text.ts";
import {
  type CatalogVariable,
  type Checked,
  catalogEntry,
  checkNew,
  findInCatalog,
  type NewServer,
} from "../../settings/add-server.ts";
import {
  type ConfigFile,
  configAsText,
  openConfigFile,
  withServer,
  writeConfigFile,
} from "../../settings/config-file.ts";
import { recordPolicyChange } from "../../settings/policy-changes.ts";
import { isTrustedFile, keepTrust, untrustedText } from "../../settings/trust/trust-config.ts";
import { type Answer, command, flag, option, place, repeatable, several } from "../command.ts";
import { askingForTrust, configArgs, whichConfig } from "../config-flags.ts";
import { parsePairs } from "../flags.ts";
import { givenFlags, type RegistryFlags, registryArgs } from "../from-registry/flags.ts";
import { foundShape, reviewShape } from "../from-registry/shapes.ts";
import type { Io } from "../io.ts";
import { saying } from "../progress.ts";
import { ask, canAsk } from "../prompt.ts";
import { toolboxOf } from "../session.ts";

export default command({
  description:
    "Add a server to claudikins.json: a well-known server by name, a server from an MCP registry, a command after --, a URL, or an entry copied from any agent's settings. The server is started once to check that it works. A server from a registry is shown first, and you are asked whether to add it.",
  args: {
    name: place(
      "Name of the server (in a registry: name@version for a certain version), or an entry as JSON or TOML (- reads it from standard input)",
      {
        required: false,
        complete: "catalog",
      },
    ),
    what: place("URL, entry, or command and arguments after --; leave out for a catalog server", {
      required: false,
      complete: "file",
      ...several,
    }),
    env: option("Environment variable for the server; NAME alone refers to the one in your environment (repeatable)", {
      valueHint: "NAME=value",
      complete: "variable",
      ...repeatable,
    }),
    header: option("HTTP header to send with every request (repeatable)", { valueHint: "Name: value", ...repeatable }),
    type: option("Transport of the URL: http, sse or ws (default: detected)", {
      valueHint: "type",
      choices: ["http", "sse", "ws"],
    }),
    user: flag("Add the server to your own config, even inside a project"),
    force: flag("Replace an existing server of this name"),
    "no-check": flag("Do not start the server or ask for its variables"),
    ...registryArgs,
    ...configArgs,
  },
  examples: [
    "claudikins add github",
    "claudikins add --search weather",
    "claudikins add io.github.owner/weather",
    "claudikins add files -- npx -y @modelcontextprotocol/server-filesystem .",
    "claudikins add docs https://mcp.example.com/mcp --header 'X-Key: ${DOCS_KEY}'",
    `claudikins add --json '{ "docs": { "url": "https://mcp.example.com/mcp" } }'`,
  ],
  json: either(
    named(
      "Added",
      record({
        config: text,
        added: list(
          record({
            server: text,
            "tools?": number,
            "needs?": about("Variables that are not set; the server was not started", texts),
            "signIn?": about("The server requires a sign-in: claudikins auth login", exactly(true)),
            "notes?": texts,
          }),
        ),
        "restart?": about("The config file is new: restart agents that already run claudikins", exactly(true)),
      }),
    ),
    named(
      "FoundServers",
      about(
        "With --search",
        record({
          servers: list(foundShape),
          "failed?": about("Registries that did not answer", list(record({ registry: text, error: problem }))),
        }),
      ),
    ),
  ),
  jsonFailure: {
    "review?": about("The server of the registry that was not added", reviewShape),
    "matches?": about("The servers that the words match", list(foundShape)),
  },
  async run(args, io) {
    if (args.search !== undefined) return search(args.search, args, io);
    const which = whichConfig(args, io);
    const answer = { flag: args.config, trust: args.trust, cwd: io.cwd, env: io.env };
    if (!args.user && !isAnsweredFor(answer)) await askingForTrust(args, io, () => checkTrust(answer));
    const configFile = openConfigFile(which);
    const isTrusted = await isTrustedFile(configFile, io.env);
    const isChecked = !args["no-check"];
    const details: Details = {
      env: parsePairs(args.env, "--env", { form: /^([A-Za-z_]\w*)(?:=([\s\S]*))?$/, shown: "NAME=value" }),
      headers: parsePairs(args.header, "--header", { form: /^([^\s:]+)\s*:\s*([\s\S]*)$/, shown: "'Name: value'" }),
      type: args.type,
    };
    const isAsked = isChecked && configFile.kind === "user" && canAsk(io) && !args.json;
    const how: HowToAdd = {
      isChecked,
      isAsked,
      registryFlags: givenFlags(args),
      skipsCatalog: args.registry.length > 0,
      findPublished: async (name, near) => {
        const { addPublished } = await import("../from-registry/add-published.ts");
        const checkFreeKey = (key: string) => checkFree(key, configFile, args.force === true, "--as");
        return addPublished(name, { args, near, configFile, env: details.env, isChecked, checkFree: checkFreeKey }, io);
      },
    };
    const servers = await newServers(args.name, args.what, details, how, io);
    if ("answer" in servers) return servers.answer;
    let text = configFile.text;
    for (const { name, entry } of servers) {
      checkFree(name, configFile, args.force === true);
      text = withServer(configFile, text, name, entry);
    }
    const config = await configAsText(configFile, text, io.env);
    await using toolbox = await toolboxOf(config, io, { cwd: serverFolder(config.origin, io.cwd, io.env) });
    toolbox.catalog.ignoreChanges();
    for (const server of config.servers.values()) {
      // `npx` and the like may have to download the server first.
      server.startTimeoutMs = Math.max(server.startTimeoutMs, firstStartMs);
    }
    const checked = new Map<string, Checked | undefined>();
    for (const { name } of isChecked ? servers : []) {
      checked.set(name, await saying(io.stderr, `Starting ${name}`, checkNew(name, toolbox.catalog, io.interrupted)));
    }
    writeConfigFile(configFile, text, { secrets: configFile.kind === "user" });
    await recordPolicyChange({ file: configFile.file, before: configFile.text, after: text }, io.env);
    const notes: string[] = [];
    if (isTrusted) await keepTrust(configFile, text, io.env);
    else if (args.config !== undefined) notes.push(`note: ${untrustedText(configFile)}\n`);
    if (configFile.kind === "project" && haveSecrets(servers.map(({ entry }) => entry))) {
      const way = "keep it out of git, or replace the secret with ${VAR}";
      notes.push(`warning: ${configFile.file} contains a secret: ${way}\n`);
    }
    for (const server of servers) {
      const found = checked.get(server.name);
      // The server is connected, so its files and the index are written from its current tools.
      if (found?.tools !== undefined) await toolbox.catalog.fetch(server.name, io.interrupted);
      notes.push(...notesOf(server, found));
    }
    // A running `serve` follows changes of its own config file only.
    const isNew = configFile.content === undefined;
    if (isNew) notes.push("note: the config file is new: restart agents that already run claudikins\n");
    const added = servers.map(({ name, notes: own }) => ({
      server: name,
      ...checked.get(name),
      ...(own.length > 0 ? { notes: own } : {}),
    }));
    return {
      json: { config: configFile.file, added, ...(isNew ? { restart: true } : {}) },
      text: servers.map(({ name }) => addedText(name, checked.get(name)?.tools, configFile)).join(""),
      note: notes.join(""),
    };
  },
});

/** The time for the first start of a server. */
const firstStartMs = 120_000;

interface Details {
  env: Map<string, string | undefined>;
  headers: Map<string, string | undefined>;
  type: string | undefined;
}

interface HowToAdd {
  isChecked: boolean;
  isAsked: boolean;
  /** Flags that only apply to a server from a registry. */
  registryFlags: string[];
  /** Whether `--registry` names registries, so that the catalog is not meant. */
  skipsCatalog: boolean;
  findPublished(name: string, near: string[]): Promise<NewServer | { answer: Answer }>;
}

/** Throws USAGE, CONFIG_INVALID, SERVER_NOT_FOUND, NEEDS_VARIABLE and the errors of registries. */
async function newServers(
  name: string | undefined,
  words: string[],
  details: Details,
  how: HowToAdd,
  io: Io,
): Promise<NewServer[] | { answer: Answer }> {
  const {
    isChecked,
    isAsked,
    registryFlags: [registryFlag],
    skipsCatalog,
    findPublished,
  } = how;
  const [first, ...rest] = words;
  if (name === undefined) {
    throw new ClaudikinsError("USAGE", "No server given", {
      hint: "Example: claudikins add github. For all forms: claudikins add --help",
    });
  }
  const isNamed = first === undefined && name !== "-" && !isPasted(name) && !isAddress(name);
  if (registryFlag && !isNamed) {
    throw new ClaudikinsError("USAGE", `${registryFlag} only applies to a server from a registry`, {
      hint: "See claudikins add --help",
    });
  }
  if (name === "-" || isPasted(name)) {
    refuse(words, details, "an entry");
    return pastedServers(name === "-" ? await io.stdin.text() : name, undefined, io);
  }
  if (first !== undefined && isPasted(first)) {
    refuse(rest, details, "an entry");
    return pastedServers(first, name, io);
  }
  if (first !== undefined && isAddress(first)) {
    refuse(rest, { ...details, headers: new Map(), type: undefined }, "a URL");
    const headers = Object.fromEntries(details.headers);
    const entry = { ...typeOf(details), url: first, ...(details.headers.size > 0 ? { headers } : {}) };
    return [{ name, entry, notes: [] }];
  }
  if (first !== undefined) {
    refuse([], { ...details, env: new Map() }, "a command");
    const env = Object.fromEntries([...details.env].map(([key, value]) => [key, value ?? `\${${key}}`]));
    const entry = {
      command: first,
      ...(rest.length > 0 ? { args: rest } : {}),
      ...(details.env.size > 0 ? { env } : {}),
    };
    return [{ name, entry, notes: [] }];
  }
  if (isAddress(name) && details.headers.size > 0) throw noName(name, "USAGE");
  refuse([], { ...details, env: new Map() }, "a server by its name");
  const found = skipsCatalog ? { near: [] } : await findInCatalog(name);
  if (!("server" in found) || !found.server) {
    if (isAddress(name) && URL.canParse(name)) throw noName(name, "SERVER_NOT_FOUND");
    const published = await findPublished(name, found.near);
    return "answer" in published ? published : [published];
  }
  const { server } = found;
  if (registryFlag) {
    throw new ClaudikinsError("USAGE", `${registryFlag} does not apply to ${server.title}, which is in the catalog`, {
      hint: "To look in a registry instead: --registry official",
    });
  }
  const entry = await catalogEntry(server, {
    given: details.env,
    env: io.env,
    ask: isAsked ? (variable) => askFor(variable, server.title, io) : undefined,
    lenient: !isChecked,
  });
  const extra = [...details.env].filter(([key]) => !server.variables.some((variable) => variable.name === key));
  if (extra.length > 0 && entry["command"] === undefined) {
    throw new ClaudikinsError("USAGE", `${extra[0]?.[0]} is not a variable of ${server.title}`, {
      hint: `Its variables: ${server.variables.map((variable) => variable.name).join(", ") || "none"}`,
    });
  }
  const own = Object.fromEntries(extra.map(([key, value]) => [key, value ?? `\${${key}}`]));
  const env = { ...(entry["env"] as object | undefined), ...own };
  return [
    {
      name: server.name,
      entry: { ...entry, ...(Object.keys(env).length > 0 ? { env } : {}) },
      notes: [...server.notes],
    },
  ];
}

async function search(words: string, args: RegistryFlags & { name?: string | undefined }, io: Io): Promise<Answer> {
  const [other] = [args.name, ...givenFlags({ ...args, registry: [] })].filter((each) => each !== undefined);
  if (other !== undefined) {
    throw new ClaudikinsError("USAGE", `${JSON.stringify(other)} cannot be used with --search`, {
      hint: "Put several words into quotes: claudikins add --search 'weather forecast'",
    });
  }
  const { searchServers } = await import("../from-registry/search-servers.ts");
  return searchServers(words, args.registry, io);
}

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
function refuse(words: string[], { env, headers, type }: Details, what: string): void {
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

function typeOf({ type }: Details): { type?: string } {
  if (type === undefined) return {};
  if (networkTypeOf(type) !== undefined) return { type };
  throw new ClaudikinsError("USAGE", `--type takes http, sse or ws; got "${type}"`);
}

function checkFree(name: string, { entries, file }: ConfigFile, force: boolean, flag?: string): void {
  if (!entries.has(name) || force) return;
  const other =
    flag === undefined ? "give the new server another name" : `give the new server another name with ${flag}`;
  throw new ClaudikinsError("USAGE", `${file} already has a server called "${name}"`, {
    hint: `To replace it, add --force. To keep both, ${other}.`,
  });
}

const secret = /token|secret|key|pass|pat$|credential|uri$|url$|dsn/i;

async function askFor({ name, what, from, required }: CatalogVariable, title: string, io: Io): Promise<string> {
  const where = from === undefined ? "" : `\n  ${from}`;
  const question = `${title} ${required ? "needs" : "accepts"} ${name}: ${what}${where}\n${name}${required ? "" : " (optional)"}: `;
  return (await ask(io, question, { hidden: secret.test(name) })).trim();
}

function notesOf({ name, notes }: NewServer, found: Checked | undefined): string[] {
  const lines = notes.map((note) => `note: ${note}\n`);
  if (found && "needs" in found) {
    lines.push(`The server was not started, because these variables are not set: ${found.needs.join(", ")}\n`);
  }
  if (found && "signIn" in found) lines.push(`Sign in: claudikins auth login ${name}\n`);
  return lines;
}

function addedText(name: string, tools: number | undefined, { file }: ConfigFile): string {
  return `Added ${name} to ${file}${tools === undefined ? "" : `: ${counted(tools, "tool")}`}\n`;
}
