/** Shows the entry of a server on the page without its secrets, and changes it. `claudikins config server` uses the same functions. */

import { createHmac, randomBytes } from "node:crypto";
import { isObject, stringsIn } from "../base/json-object.ts";
import { addressKeys } from "../config/address.ts";
import { noSuchServer, openConfigFile, type PortableEntry } from "../config/config-file.ts";
import { defaultServerTimes } from "../config/defaults.ts";
import type { Environment } from "../config/environment.ts";
import { variablesIn } from "../config/expand.ts";
import { homeOf } from "../config/locations.ts";
import { storedSecrets } from "../config/secrets/store.ts";
import { sourceKinds } from "../config/sources.ts";
import { speaksOfSecret } from "../servers/values/secrets.ts";
import { haveSecrets, maskOf } from "../setup/agents/secrets.ts";
import { requireTrusted } from "../setup/settings/change-policy.ts";
import { changeEntry, type EntryChange, entryKeys, plannedEntry, referringTo } from "../setup/settings/edit-entry.ts";
import type { Body } from "./bodies.ts";
import { inHome } from "./executions.ts";
import { RefusedRequest } from "./guard.ts";
import { pageCheckMs } from "./limits.ts";
import type { PageParts } from "./parts.ts";
import { fileOfServer } from "./rules.ts";
import { withSecret } from "./server-actions.ts";
import type { PageEntry, PageEntryChanged, PageEntryValue } from "./servers-contract.ts";
import type { UndoneChanges } from "./undone-changes.ts";

type EntryParts = Pick<PageParts, "app" | "env" | "isAnswered" | "openConfig"> & { undone: UndoneChanges };

/** Keys whose values are short texts. */
const textKeys = ["command", ...addressKeys, ...sourceKinds, "baseUrl", "schema", "cwd", "account", "description"];

/** Keys whose values are credentials, or commands that print them. */
const secretKeys = ["auth", "headersHelper"];

const numberKeys = ["startTimeoutMs", "callTimeoutMs", "idleTimeoutMs", "maxCallsInFlight"] as const;

/** Keys with a field of their own, beside the texts, the secrets and the numbers. */
const otherFields = ["args", "env", "headers", "sandbox", "keepAlive"];

/** One reference, perhaps after the scheme of a header. A default could be a secret, so it is not one. */
const reference = /^(?:[A-Za-z]+ )?\$\{(secret:)?([A-Za-z_]\w*)\}$/;

export class EntryOnPage {
  readonly #options: EntryParts;
  /** The mark of an entry depends on its secrets, so nobody else can compute it. */
  readonly #key = randomBytes(32);

  constructor(options: EntryParts) {
    this.#options = options;
  }

  /** Throws SERVER_NOT_FOUND, and CONFIG_NOT_FOUND for the demo. */
  read(server: string): PageEntry {
    const { env } = this.#options;
    const { file, entry } = this.#found(server);
    const mask = maskOf([entry]);
    /** Undefined for a text with a secret. */
    const shown = (text: unknown) => (typeof text === "string" && mask(text) === text ? text : undefined);
    const secrets = storedSecrets(env).map(({ name }) => name);
    const valuesOf = (key: "env" | "headers") =>
      Object.entries(isObject(entry[key]) ? entry[key] : {}).map(([name, value]) =>
        shownValue(name, value, env, secrets),
      );
    const args = stringsIn(entry["args"]);
    const given = (keys: readonly string[]) => keys.filter((key) => Object.hasOwn(entry, key));
    const known = [...textKeys, ...secretKeys, ...numberKeys, ...otherFields];
    return {
      server,
      file: inHome(file, homeOf(env)),
      mark: this.#markOf(entry),
      kind: kindOf(entry),
      texts: given(textKeys).map((key) => ({ key, value: shown(entry[key]) })),
      credentials: given(secretKeys),
      args: args.map((text, at) => ({ text: isAfterSecretFlag(args, at) ? undefined : shown(text) })),
      env: valuesOf("env"),
      headers: valuesOf("headers"),
      sandbox: sandboxOf(entry["sandbox"]),
      numbers: numberKeys.map((key) => ({
        key,
        value: typeof entry[key] === "number" ? entry[key] : undefined,
        usual: defaultServerTimes[key],
      })),
      keepAlive: typeof entry["keepAlive"] === "boolean" ? entry["keepAlive"] : undefined,
      others: Object.keys(entry).filter((key) => !known.includes(key)),
      missing: [...variablesIn(entry)].filter((name) => !env[name] && isNeeded(name, entry)),
      secrets,
    };
  }

  /**
   * Tries the changed server, unless `isChecked` is false, and writes its entry. Throws RefusedRequest if the entry is another one than was shown,
   * CONFIG_NOT_TRUSTED, and what `plannedEntry` and `changeEntry` throw.
   */
  async change({ server, mark, changes, secrets, isChecked }: Body<"entry">): Promise<PageEntryChanged> {
    const { app, env, isAnswered, openConfig, undone } = this.#options;
    const { file, entry } = this.#found(server);
    const configFile = openConfigFile({ flag: file, cwd: "/", env });
    await requireTrusted(configFile, env, isAnswered);
    if (mark !== this.#markOf(entry)) {
      throw new RefusedRequest(409, "The entry was changed in the meantime", "Look at it again. Nothing was changed.");
    }
    const given = changes.map(({ at, value }): EntryChange => {
      const [key = "", name] = at;
      return { at: name === undefined ? [key] : [key, name], value: withKept(value, stringsIn(entry[key])) };
    });
    const first = await plannedEntry(server, given, configFile, env);
    const references = secrets.flatMap(({ name }) => referringTo(name, first.entry));
    const planned =
      references.length === 0 ? first : await plannedEntry(server, [...given, ...references], configFile, env);
    if (planned.changed.length === 0) throw new RefusedRequest(400, "Nothing is different");
    const { checked, listed, notes, ...change } = await changeEntry(planned, {
      env,
      secrets,
      isChecked,
      signal: AbortSignal.timeout(pageCheckMs),
      place: "page",
      open: openConfig,
    });
    await app.reload?.refresh();
    if (listed && app.config.servers.has(server)) app.catalog.takeListed(listed);
    return {
      changed: planned.changed,
      tools: checked?.tools,
      needs: checked && "needs" in checked ? checked.needs : undefined,
      signIn: checked !== undefined && "signIn" in checked,
      notes: configFile.kind === "project" && haveSecrets([planned.entry]) ? [...notes, withSecret] : notes,
      undo: undone.keep(change),
    };
  }

  #found(server: string): { file: string; entry: PortableEntry } {
    const { app, env } = this.#options;
    const file = fileOfServer(server, app.config);
    const configFile = openConfigFile({ flag: file, cwd: "/", env });
    const entry = configFile.entries.get(server);
    if (!entry) throw noSuchServer(server, configFile);
    return { file, entry };
  }

  #markOf(entry: PortableEntry): string {
    return createHmac("sha256", this.#key).update(JSON.stringify(entry)).digest("base64url");
  }
}

function shownValue(name: string, value: unknown, env: Environment, secrets: readonly string[]): PageEntryValue {
  const [whole, secret, variable = ""] = reference.exec(String(value)) ?? [];
  if (whole === undefined) return { name };
  return { name, shown: whole, isMissing: secret ? !secrets.includes(variable) : !env[variable] };
}

/** Whether the entry has the variable without a default. */
function isNeeded(name: string, entry: PortableEntry): boolean {
  return JSON.stringify(Object.entries(entry).filter(([key]) => entryKeys.includes(key))).includes(`\${${name}}`);
}

/** Such as `--token X` and `token=X`, whatever X looks like. */
function isAfterSecretFlag(args: readonly string[], at: number): boolean {
  const [, flag = ""] = /^--?([\w-]+)$/.exec(args[at - 1] ?? "") ?? [];
  const [, name = ""] = /^-{0,2}([\w-]+)\s*[=:]/.exec(args[at] ?? "") ?? [];
  return speaksOfSecret(name) || (speaksOfSecret(flag) && !args[at]?.startsWith("-"));
}

function kindOf(entry: PortableEntry): PageEntry["kind"] {
  const source = sourceKinds.find((key) => Object.hasOwn(entry, key));
  return source ?? (addressKeys.some((key) => Object.hasOwn(entry, key)) ? "address" : "program");
}

function sandboxOf(value: unknown): PageEntry["sandbox"] {
  if (typeof value === "boolean") return value;
  if (!isObject(value)) return undefined;
  const { read, write, network } = value;
  return {
    read: stringsIn(read),
    write: stringsIn(write),
    network: Array.isArray(network) ? stringsIn(network) : network === true,
  };
}

/** A list in which `{ keep: 1 }` stands for the second text of the entry, which the page does not know. */
function withKept(value: Body<"entry">["changes"][number]["value"], before: readonly string[]): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((each) => {
    if (typeof each === "string") return each;
    const kept = before[each.keep];
    if (kept === undefined) throw new RefusedRequest(400, "The entry has no such argument");
    return kept;
  });
}
