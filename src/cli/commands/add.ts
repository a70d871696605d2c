/** `claudikins add`: adds a server to the config: by name, as a command, a URL or a pasted entry. */

import { dirname } from "node:path";
import type { App } from "../../app/app.ts";
import { counted } from "../../base/counted.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { about, either, exactly, list, named, number, problem, record, text, texts } from "../../base/json-shape.ts";
import { twinsOf } from "../../config/accounts.ts";
import { type ConfigFile, openConfigFile } from "../../config/config-file.ts";
import { serverFolder } from "../../config/discover.ts";
import { checkTrust, isAnsweredFor } from "../../config/trust/require.ts";
import { haveSecrets } from "../../setup/agents/secrets.ts";
import type { CheckedEntry, NewServer } from "../../setup/settings/add-server.ts";
import { configWith, tryAndSave } from "../../setup/settings/add-servers.ts";
import { sourceEntry, sourceKindOf } from "../../setup/settings/source-entry.ts";
import { isTrustedFile, untrustedText } from "../../setup/trust/trust-config.ts";
import { privateReason, sessionOf } from "../../tools/catalog/session-of.ts";
import { type EntryDetails, type HowToAdd, newServers } from "../add/new-servers.ts";
import { type CommandAnswer, command, flag, option, place, repeatable, several } from "../command.ts";
import { askingForTrust, configArgs, whichConfig } from "../flags/config-flags.ts";
import { parsePairs } from "../flags/flags.ts";
import { foundServerShape, givenFlags, type RegistryFlags, registryArgs, reviewShape } from "../from-registry/flags.ts";
import type { Io } from "../io.ts";
import { appOf } from "../open-app.ts";
import { saying } from "../terminal/progress.ts";
import { canAsk } from "../terminal/prompt.ts";
import { warningLabel } from "../terminal/terminal-output.ts";

export default command({
  description:
    "Add a server to claudikins.json: a well-known server by name, a server from an MCP registry, a bundle (.mcpb), a command after --, a URL, a web API with --openapi or --graphql, or an entry copied from any agent's settings. The server is started once to check that it works. A server from a registry or a bundle is shown first, and you are asked whether to add it.",
  args: {
    name: place(
      "Name of the server (in a registry: name@version for a certain version), the path of a bundle (.mcpb), or an entry as JSON or TOML (- reads it from standard input)",
      {
        required: false,
        complete: "catalog",
      },
    ),
    what: place("URL, entry, bundle, or command and arguments after --; leave out for a catalog server", {
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
    openapi: option("Add a web API: the address or path of its OpenAPI document", {
      valueHint: "URL or file",
      complete: "file",
    }),
    graphql: option("Add a web API: the address of its GraphQL endpoint", { valueHint: "URL" }),
    schema: option("The address or path of the schema of a GraphQL endpoint that does not tell it", {
      valueHint: "URL or file",
      complete: "file",
    }),
    "base-url": option("The address of the web API, in place of the addresses in its OpenAPI document", {
      valueHint: "URL",
    }),
    auth: option(
      "Credential of the web API, or name=credential for one security scheme of its OpenAPI document (repeatable)",
      {
        valueHint: "credential",
        ...repeatable,
      },
    ),
    include: option("Operations of the web API that become tools; * matches any text (repeatable)", {
      valueHint: "pattern",
      ...repeatable,
    }),
    exclude: option("Operations of the web API that are left out (repeatable)", {
      valueHint: "pattern",
      ...repeatable,
    }),
    account: option("The account that it is for, to tell several entries of one server apart", { valueHint: "text" }),
    sandbox: flag(
      "Run the server in a sandbox: a catalog server with what it needs, any other with its own files and no network",
    ),
    "no-sandbox": flag("Run the server without a sandbox, whatever the config says"),
    user: flag("Add the server to your own config, even inside a project"),
    force: flag("Replace an existing server of this name"),
    "no-check": flag("Do not start the server or ask for its variables"),
    ...registryArgs,
    ...configArgs,
  },
  examples: [
    "claudikins add github",
    "claudikins add slack --as slack-client --account ada@client.example",
    "claudikins add --search weather",
    "claudikins add io.github.owner/weather",
    "claudikins add ./weather.mcpb",
    "claudikins add files -- npx -y @modelcontextprotocol/server-filesystem .",
    "claudikins add docs https://mcp.example.com/mcp --header 'X-Key: ${DOCS_KEY}'",
    "claudikins add pets --openapi ./pets.yaml --auth '${PETS_KEY}'",
    "claudikins add shop --graphql https://api.example.com/graphql",
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
          servers: list(foundServerShape),
          "failed?": about("Registries that did not answer", list(record({ registry: text, error: problem }))),
        }),
      ),
    ),
  ),
  jsonFailure: {
    "review?": about("The server of the registry that was not added", reviewShape),
    "matches?": about("The servers that the words match", list(foundServerShape)),
  },
  async run(args, io) {
    if (args.search !== undefined) return search(args.search, args, io);
    const answer = { flag: args.config, trust: args.trust, cwd: io.cwd, env: io.env };
    const which = whichConfig(args, io);
    if (!args.user && !isAnsweredFor(answer)) await askingForTrust(args, io, () => checkTrust(answer));
    const configFile = openConfigFile(which);
    const isTrusted = await isTrustedFile(configFile, io.env);
    const isChecked = !args["no-check"];
    const force = args.force === true;
    const kind = sourceKindOf(args);
    const details: EntryDetails = {
      env: parsePairs(args.env, "--env", { form: /^([A-Za-z_]\w*)(?:=([\s\S]*))?$/, shown: "NAME=value" }),
      headers: parsePairs(args.header, "--header", { form: /^([^\s:]+)\s*:\s*([\s\S]*)$/, shown: "'Name: value'" }),
      type: args.type,
      source: kind && (() => sourceEntry(args, details.headers, { cwd: io.cwd, config: dirname(configFile.file) })),
    };
    const isConfined = sandboxFlag(args);
    const how: HowToAdd = {
      isChecked,
      isConfined,
      isAsked: isChecked && configFile.kind === "user" && canAsk(io) && !args.json,
      as: args.as,
      registryFlags: givenFlags({ ...args, as: undefined }),
      skipsCatalog: args.registry.length > 0,
      findPublished: async (name, near) => {
        const { addPublished } = await import("../from-registry/add-published.ts");
        const checkFreeKey = (key: string) => checkFree(key, configFile, force, "--as");
        return addPublished(name, { args, near, configFile, env: details.env, isChecked, checkFree: checkFreeKey }, io);
      },
      addBundle: async (file, name) => {
        const { addBundle } = await import("../add/add-bundle.ts");
        const checkFreeKey = (key: string) => checkFree(key, configFile, force, "--as");
        const context = { args, configFile, env: details.env, isChecked, isConfined, name, checkFree: checkFreeKey };
        return addBundle(file, context, io);
      },
    };
    const found = await newServers(args.name, args.what, details, how, io);
    if ("answer" in found) return found.answer;
    const isByName = args.what.length === 0 && args.as === undefined;
    const isNamed = args.config !== undefined;
    try {
      const servers = forAccount(withSandbox(found, isConfined), args.account);
      for (const { name } of servers) checkFree(name, configFile, force, isByName ? `--as ${name}-2` : undefined);
      return await add(servers, configFile, { isChecked, isTrusted, isNamed }, io);
    } catch (error) {
      for (const { discard } of found) discard?.();
      throw error;
    }
  },
});

function sandboxFlag(args: { sandbox?: boolean | undefined; "no-sandbox"?: boolean | undefined }): boolean | undefined {
  if (args.sandbox && args["no-sandbox"]) throw new ClaudikinsError("USAGE", "Use --sandbox or --no-sandbox, not both");
  return args.sandbox ? true : args["no-sandbox"] ? false : undefined;
}

/** Throws USAGE for a server on the network. */
function withSandbox(servers: NewServer[], sandbox: boolean | undefined): NewServer[] {
  if (sandbox === undefined) return servers;
  return servers.map((server) => {
    if (server.entry["command"] === undefined) {
      throw new ClaudikinsError("USAGE", `${server.name} is on the network: only a program can have a sandbox`, {
        hint: "Add it without --sandbox and --no-sandbox.",
      });
    }
    return sandbox && server.entry["sandbox"] ? server : { ...server, entry: { ...server.entry, sandbox } };
  });
}

/** Throws USAGE for several servers. */
function forAccount(servers: NewServer[], account: string | undefined): NewServer[] {
  if (account === undefined) return servers;
  if (servers.length > 1) {
    throw new ClaudikinsError("USAGE", `--account is for one server, and the entry has ${servers.length}`, {
      hint: 'Write "account" into each server of the entry.',
    });
  }
  return servers.map((server) => ({ ...server, entry: { ...server.entry, account } }));
}

/** Starts the servers, unless `isChecked` is false, and writes their entries. Throws what the start of a server throws. */
async function add(
  servers: readonly NewServer[],
  configFile: ConfigFile,
  { isChecked, isTrusted, isNamed }: Record<"isChecked" | "isTrusted" | "isNamed", boolean>,
  io: Io,
): Promise<CommandAnswer> {
  const { file } = configFile;
  const { text, config } = await configWith(servers, configFile, io.env);
  await using app = await appOf(config, io, { cwd: serverFolder(config.origin, io.cwd, io.env) });
  const checked = await tryAndSave(
    servers,
    { configFile, text },
    {
      catalog: app.catalog,
      env: io.env,
      isChecked,
      signal: io.interrupted,
      onStart: (name, started) => saying(io.stderr, `Starting ${name}`, started),
    },
  );
  // A running `serve` follows changes of its own config file only.
  const isNew = configFile.content === undefined;
  const notes = [
    ...(isTrusted || !isNamed ? [] : [`note: ${untrustedText(configFile)}\n`]),
    ...(configFile.kind === "project" && haveSecrets(servers.map(({ entry }) => entry))
      ? [`${warningLabel} ${file} contains a secret: keep it out of git, or replace the secret with \${VAR}\n`]
      : []),
    ...servers.flatMap((server) => notesOf(server, checked.get(server.name))),
    ...(await privateNotes(servers, app)),
    ...sameAccountNotes(servers, app),
    ...servers
      .filter(({ name }) => configFile.ownNames.includes(name) && !configFile.entries.has(name))
      .map(({ name }) => `note: in this project, it takes the place of ${name} in your own config\n`),
    ...(isNew ? ["note: the config file is new: restart agents that already run claudikins\n"] : []),
  ];
  const added = servers.map(({ name, notes: own }) => ({
    server: name,
    ...checked.get(name),
    ...(own.length > 0 ? { notes: own } : {}),
  }));
  return {
    json: { config: file, added, ...(isNew ? { restart: true } : {}) },
    text: servers.map(({ name }) => addedText(name, checked.get(name)?.tools, configFile)).join(""),
    note: notes.join(""),
  };
}

async function search(
  words: string,
  args: RegistryFlags & { name?: string | undefined },
  io: Io,
): Promise<CommandAnswer> {
  const [other] = [args.name, ...givenFlags({ ...args, registry: [] })].filter((each) => each !== undefined);
  if (other !== undefined) {
    throw new ClaudikinsError("USAGE", `${JSON.stringify(other)} cannot be used with --search`, {
      hint: "Put several words into quotes: claudikins add --search 'weather forecast'",
    });
  }
  const { searchServers } = await import("../from-registry/search-servers.ts");
  return searchServers(words, args.registry, io);
}

function checkFree(name: string, { entries, file }: ConfigFile, force: boolean, flag?: string): void {
  if (!entries.has(name) || force) return;
  const other =
    flag === undefined ? "give the new server another name" : `give the new server another name with ${flag}`;
  throw new ClaudikinsError("USAGE", `${file} already has a server called "${name}"`, {
    hint: `To replace it, add --force. To keep both, ${other}.`,
  });
}

function notesOf({ name, notes }: NewServer, found: CheckedEntry | undefined): string[] {
  const lines = notes.map((note) => `note: ${note}\n`);
  if (found && "needs" in found) {
    lines.push(`The server was not started, because these variables are not set: ${found.needs.join(", ")}\n`);
  }
  if (found && "signIn" in found) lines.push(`Sign in: claudikins auth login ${name}\n`);
  return lines;
}

/** A program with the same variables as another entry acts for the same account. On the network, each entry has its own sign-in. */
function sameAccountNotes(servers: readonly NewServer[], { config }: App): string[] {
  return servers.flatMap(({ name }) => {
    const server = config.servers.get(name);
    if (server?.url !== undefined) return [];
    const same = twinsOf(name, config.servers).find((twin) => {
      const other = config.servers.get(twin);
      return other?.url === undefined && Bun.deepEquals(other?.env, server?.env);
    });
    if (same === undefined) return [];
    return [
      `note: ${name} has the same variables as ${same}, so it acts for the same account: give it others with --env\n`,
    ];
  });
}

/** What agents that work at the same time should know. */
async function privateNotes(servers: readonly NewServer[], { config, catalog }: App): Promise<string[]> {
  const notes = servers.map(async ({ name }) => {
    const server = config.servers.get(name);
    const choice = server && (await sessionOf(server, catalog.toolNames(name)));
    const isChosen = choice?.session === "private" && choice.by !== "config";
    return isChosen ? [`note: ${name} ${privateReason}, so each agent has a process of its own\n`] : [];
  });
  return (await Promise.all(notes)).flat();
}

function addedText(name: string, tools: number | undefined, { file }: ConfigFile): string {
  return `Added ${name} to ${file}${tools === undefined ? "" : `: ${counted(tools, "tool")}`}\n`;
}
