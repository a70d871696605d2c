/** Checks, switches, removes and adds servers for the page. The commands use the same functions. */

import { dirname } from "node:path";
import { ClaudikinsError } from "../base/errors.ts";
import { readIfThere } from "../base/files.ts";
import { type ConfigFile, openConfigFile } from "../config/config-file.ts";
import type { Environment } from "../config/environment.ts";
import { logsFolder } from "../config/locations.ts";
import { referencesIn, referringParts } from "../config/secrets/references.ts";
import { storedSecret } from "../config/secrets/store.ts";
import { configOwner, logFile } from "../servers/logs/place.ts";
import { readLog } from "../servers/logs/read-logs.ts";
import { entryStep } from "../servers/state.ts";
import { namesFor, refer, secretsIn } from "../setup/agents/plain-secrets.ts";
import { haveSecrets } from "../setup/agents/secrets.ts";
import { readPasted } from "../setup/agents/supported/pasted.ts";
import { catalogEntry, findInCatalog, type NewServer, notInCatalog } from "../setup/settings/add-server.ts";
import { configWith, tryAndSave } from "../setup/settings/add-servers.ts";
import { requireTrusted } from "../setup/settings/change-policy.ts";
import { type EntrySecret, withEntrySecrets } from "../setup/settings/entry-secrets.ts";
import { removeServers } from "../setup/settings/remove-servers.ts";
import { sourceEntry } from "../setup/settings/source-entry.ts";
import { switchServers } from "../setup/settings/switch-servers.ts";
import { checkServers } from "../tools/catalog/inventory.ts";
import type { Body } from "./bodies.ts";
import { RefusedRequest } from "./guard.ts";
import { pageCheckMs } from "./limits.ts";
import type { PageParts } from "./parts.ts";
import { fileOfServer } from "./rules.ts";
import type { PageAdded, PageChecked, PageLogLine, PageUndo } from "./servers-contract.ts";
import type { UndoneChanges } from "./undone-changes.ts";

/** Lines of a log on the page. */
const maxShownLogLines = 200;

type ServerParts = Pick<PageParts, "app" | "env" | "isAnswered" | "openConfig" | "background"> & {
  undone: UndoneChanges;
};

const place = "page";

/** The warning about an entry of a project with a secret in plain text. */
export const withSecret =
  "The config of this project contains a secret: keep the file out of git, or replace the secret with ${secret:NAME} or ${NAME}.";

export class ServerActions {
  readonly #options: ServerParts;

  constructor(options: ServerParts) {
    this.#options = options;
  }

  /** Starts the server once, lists its tools, and ends it. Why it fails is a result. Throws SERVER_NOT_FOUND. */
  async check(server: string): Promise<PageChecked> {
    const { app } = this.#options;
    app.pool.state(server);
    await using parts = app.withOwnPool();
    const startedAt = performance.now();
    const signal = AbortSignal.timeout(pageCheckMs);
    const [checked] = await checkServers(parts, { signal, only: [server] });
    const { problem, state, misfits = [], unchecked } = checked ?? {};
    const step = state?.state === "broken" ? entryStep(state.onPage) : undefined;
    const found = parts.catalog.find(server);
    return {
      tools: found?.tools.length,
      tookMs: performance.now() - startedAt,
      problem: unchecked
        ? { message: "It did not answer within two minutes" }
        : problem && { ...problem, ...(step && { hint: step }) },
      misfits,
    };
  }

  /** The last lines of the server's log, oldest first. Throws SERVER_NOT_FOUND. */
  log(server: string): PageLogLine[] {
    const { app, env } = this.#options;
    const { config } = app;
    if (!config.servers.has(server) && !config.disabled.has(server)) app.pool.state(server);
    const path = logFile(logsFolder(env), { server, config: configOwner(config.origin) });
    return readLog(path)
      .slice(-maxShownLogLines)
      .map(({ at, kind, text }) => ({ at, kind, text }));
  }

  /** Throws SERVER_NOT_FOUND, CONFIG_NOT_TRUSTED, POLICY_DENIED. */
  async switch(server: string, isOn: boolean): Promise<PageUndo> {
    const { env, isAnswered, app, undone } = this.#options;
    const which = { flag: fileOfServer(server, app.config), cwd: "/", env };
    await requireTrusted(openConfigFile(which), env, isAnswered);
    const { saved } = await switchServers([server], isOn, which, { isAnswered, place });
    await app.reload?.refresh();
    return { undo: undone.keep(saved) };
  }

  /** The removal of a server whose unpacked files are deleted has no undo. Throws SERVER_NOT_FOUND, CONFIG_NOT_TRUSTED. */
  async remove(server: string): Promise<PageUndo> {
    const { env, isAnswered, app, undone } = this.#options;
    const configFile = openConfigFile({ flag: fileOfServer(server, app.config), cwd: "/", env });
    await requireTrusted(configFile, env, isAnswered);
    const { changed, discarded } = await removeServers([server], configFile, env, { place });
    await app.reload?.refresh();
    if (app.catalog.index.servers.length > 0) await app.catalog.prune();
    return { undo: discarded.length > 0 ? undefined : undone.keep(changed) };
  }

  /**
   * Sets the server's secrets, tries it, and adds it only if it works, needs a variable, or needs a sign-in. From the demo, the user's own config
   * gets it. Throws why it was not added. Its secrets are removed in that case.
   */
  async add(body: Body<"newServer">): Promise<PageAdded> {
    const { env, isAnswered, app, openConfig, background } = this.#options;
    const { origin } = app.config;
    const isFirst = origin.kind === "demo";
    const configFile = openConfigFile({ ...(isFirst ? { user: true } : { flag: origin.file }), cwd: "/", env });
    await requireTrusted(configFile, env, isAnswered);
    const servers = await this.#newServers(body, configFile);
    const pasted = body.kind === "entry" && body.keysAsSecrets ? await secretsFor(servers, env) : [];
    for (const { name } of servers) {
      if (!configFile.entries.has(name)) continue;
      throw new ClaudikinsError("USAGE", `The config already has a server called "${name}"`, {
        hint: "Give it another name.",
      });
    }
    const { text, config } = await configWith(servers, configFile, env);
    const isWritten = () => readIfThere(configFile.file) === text;
    const referred = referencesIn(servers.map(({ entry }) => referringParts(entry)));
    const typed = body.secrets.filter(({ name }) => referred.has(`\${secret:${name}}`));
    const secrets = [...typed, ...pasted];
    const { done, notes: ofSecrets } = await withEntrySecrets(secrets, { env, isWritten }, async () => {
      await using tried = await openConfig(config);
      const signal = AbortSignal.timeout(pageCheckMs);
      const options = { catalog: tried.catalog, env, isChecked: true, signal, place } as const;
      const checked = await tryAndSave(servers, { configFile, text }, options);
      return { checked, listed: servers.flatMap(({ name }) => tried.catalog.find(name) ?? []) };
    });
    await app.reload?.refresh();
    for (const listed of done.listed) if (app.config.servers.has(listed.name)) app.catalog.takeListed(listed);
    const secret = configFile.kind === "project" && haveSecrets(servers.map(({ entry }) => entry));
    return {
      added: servers.map(({ name, notes: own }, at) => {
        const found = done.checked.get(name);
        const notes = at === 0 ? [...own, ...keptNotes(pasted), ...ofSecrets, ...(secret ? [withSecret] : [])] : own;
        return {
          server: name,
          tools: found?.tools,
          needs: found && "needs" in found ? found.needs : undefined,
          signIn: found !== undefined && "signIn" in found,
          notes,
        };
      }),
      ...(isFirst ? { movedTo: await background.pageOf(configFile.file) } : {}),
    };
  }

  async #newServers(body: Body<"newServer">, configFile: ConfigFile): Promise<NewServer[]> {
    const { env } = this.#options;
    const { kind, name = "", what, values } = body;
    const given = new Map(Object.entries(values));
    const named = (entry: NewServer["entry"]): NewServer[] => {
      if (name === "") throw new RefusedRequest(400, "The server needs a name");
      return [{ name, entry, notes: [] }];
    };
    const folder = dirname(configFile.file);
    const flags = { auth: body.auth === undefined ? [] : [body.auth], include: [], exclude: [] };
    switch (kind) {
      case "catalog": {
        const { server, ...other } = await findInCatalog(what);
        if (!server) throw notInCatalog(what, "near" in other ? (other.near as string[]) : []);
        const entry = await catalogEntry(server, { given, env, ask: undefined, lenient: false });
        return [{ name: name || server.name, entry, notes: [...server.notes] }];
      }
      case "address":
        return named({ url: what, ...(given.size > 0 ? { headers: values } : {}) });
      case "command": {
        const [command = "", ...args] = wordsOf(what);
        return named({ command, ...(args.length > 0 ? { args } : {}), ...(given.size > 0 ? { env: values } : {}) });
      }
      case "openapi":
        return named(sourceEntry({ ...flags, openapi: what }, given, { cwd: folder, config: folder }));
      case "graphql":
        return named(sourceEntry({ ...flags, graphql: what }, given, { cwd: folder, config: folder }));
      case "entry": {
        const pasted = readPasted(what, { env, platform: process.platform, cwd: folder });
        return pasted.map(({ name: own = name, ...each }) => {
          if (own === "") throw new RefusedRequest(400, "The entry has no name: give it one");
          return { name: pasted.length === 1 && name !== "" ? name : own, ...each };
        });
      }
    }
  }
}

/** Replaces the keys in new entries by references. The secrets have no value if they are stored already. */
async function secretsFor(servers: NewServer[], env: Environment): Promise<EntrySecret[]> {
  const names = await namesFor(servers.flatMap(secretsIn), env);
  refer(names);
  const values = new Map([...names].map(([{ value }, name]) => [name, value]));
  return [...values].map(([name, value]) => ({ name, value: storedSecret(name, env) ? undefined : value }));
}

function keptNotes(secrets: readonly EntrySecret[]): string[] {
  return secrets.length === 0 ? [] : [`Kept as secrets: ${secrets.map(({ name }) => name).join(", ")}.`];
}

/** The words of a command as it is written for a shell: quotes keep spaces, and nothing is expanded. */
function wordsOf(line: string): string[] {
  const words = [...line.matchAll(/(?:[^\s"']|"(?:[^"\\]|\\.)*"|'[^']*')+/g)].map(([word]) =>
    word.replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g, (_, double?: string, single?: string) =>
      double === undefined ? (single ?? "") : double.replace(/\\(["\\$`])/g, "$1"),
    ),
  );
  if (words.length === 0) throw new RefusedRequest(400, "The command is empty");
  return words;
}
