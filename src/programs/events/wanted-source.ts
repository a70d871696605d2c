/** The source of a trigger as a person names it, with the secret of a webhook: the same for the command line and the page. */
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";
import type { Environment } from "../../config/environment.ts";
import type { Config } from "../../config/load.ts";
import { homeOf } from "../../config/locations.ts";
import { isSecretName } from "../../config/secrets/references.ts";
import { removeSecrets, setSecret, storedSecret } from "../../config/secrets/store.ts";
import type { SavedProgram } from "../saved/model.ts";
import { addTrigger, type ManageOptions, removeTrigger, type WantedTrigger } from "./manage.ts";
import { type EventSource, listedKinds, type Trigger, Triggers, type WebhookForm } from "./stored-triggers.ts";

/** Bytes of the secret part of an address, and of a new secret. */
const secretBytes = 32;

/** Random bytes in the name of a new secret. */
const nameBytes = 4;

/** Runs that a trigger starts within a minute, unless the user says another number. */
export const usualRunsPerMinute = 60;

export interface WantedSource {
  webhook?: WebhookForm | undefined;
  secret?: string | undefined;
  answer?: "id" | "result" | undefined;
  file?: string | undefined;
  resource?: string | undefined;
  list?: string | undefined;
  after?: string | undefined;
  if?: "done" | "failed" | undefined;
}

/**
 * Adds a trigger, and sets the secret that is made for a webhook. The secret is returned once. Throws USAGE, NEEDS_SECRET, and what `addTrigger`
 * throws.
 */
export async function startOn(
  program: SavedProgram,
  { source, ...wanted }: Omit<WantedTrigger, "on"> & { source: WantedSource },
  { config, env, ...options }: ManageOptions & { config: Config; env: Environment },
): Promise<{ trigger: Trigger; secret: string | undefined }> {
  const about = { form: source.webhook ?? "", program: program.name, config };
  const secret = source.webhook === undefined ? undefined : await secretFor(source.secret, about, env);
  const on = sourceOf(source, secret, config, env);
  const trigger = await addTrigger(program, { ...wanted, on }, options);
  if (secret?.made) await setSecret(secret.made.name, secret.made.value, { env });
  return { trigger, secret: secret?.made?.value };
}

/** Removes a trigger or a notification, with the secret that was made for it. Throws what `removeTrigger` throws. */
export async function startNoMore(
  id: string,
  { env, ...options }: ManageOptions & { env: Environment },
): Promise<number> {
  const found = new Triggers(options.place).find(id)?.on;
  const deliveries = await removeTrigger(id, options);
  if (found?.kind === "webhook" && found.isSecretMade) {
    const name = /^\$\{secret:(\w+)\}$/.exec(found.secret)?.[1];
    if (name !== undefined) await removeSecrets([name], env);
  }
  return deliveries;
}

/** The path of a webhook below the address of `serve --http`. */
export function webhookPath(address: string): string {
  return `/hooks/${address}`;
}

/** Throws USAGE. `secret` is given for a webhook. */
function sourceOf(
  { webhook, secret: named, answer, file, resource, list, after, if: only }: WantedSource,
  secret: Awaited<ReturnType<typeof secretFor>> | undefined,
  config: Config,
  env: Environment,
): EventSource {
  const given = [webhook, file, resource, list, after].filter((each) => each !== undefined).length;
  if (given !== 1) {
    throw new ClaudikinsError("USAGE", given === 0 ? "Nothing starts the program" : "A trigger has one source", {
      hint: "Add --webhook, --file, --resource, --list or --after.",
    });
  }
  if (webhook === undefined && (named ?? answer) !== undefined) {
    throw new ClaudikinsError("USAGE", "--secret and --answer are for --webhook");
  }
  if (after === undefined && only !== undefined) throw new ClaudikinsError("USAGE", "--if is for --after");
  if (after !== undefined) return { kind: "after", program: after, ...(only === undefined ? {} : { when: [only] }) };
  if (list !== undefined) return listSource(list, config);
  if (resource !== undefined) return resourceSource(resource, config);
  if (file !== undefined) return fileSource(file, config.folders.workspace, homeOf(env));
  return {
    kind: "webhook",
    form: webhook!,
    address: randomBytes(secretBytes).toString("base64url"),
    secret: secret!.reference,
    isSecretMade: secret!.made !== undefined,
    answer: answer ?? "id",
  };
}

/** Senders that make the secret themselves. */
const makesSecret: readonly string[] = ["stripe", "slack"] satisfies WebhookForm[];

/** A reference to the secret that is named, or to a new one. Throws USAGE and NEEDS_SECRET. */
export async function secretFor(
  given: string | undefined,
  { form, program, config }: { form: string; program: string; config: Config },
  env: Environment,
): Promise<{ reference: string; made?: { name: string; value: string } }> {
  if (given?.startsWith("${")) return { reference: given };
  if (!config.savedPrograms.documents.areFiles) {
    throw new ClaudikinsError("USAGE", "The secrets of this machine are not those of the replicas", {
      hint: "Give the secret to every replica in a variable, and name it: --secret '${HOOK_SECRET}'",
    });
  }
  if (given === undefined && makesSecret.includes(form)) {
    const name = `${form.toUpperCase()}_HOOK`;
    throw new ClaudikinsError("USAGE", `The secret of ${form} is missing`, {
      hint: `Copy it from there: claudikins secrets set ${name}. Then add --secret ${name}`,
    });
  }
  if (given !== undefined) {
    if (!isSecretName(given)) {
      throw new ClaudikinsError("USAGE", "--secret takes the name of a secret, and not the secret itself", {
        hint: "Set it first: claudikins secrets set NAME",
      });
    }
    if (storedSecret(given, env)) return { reference: `\${secret:${given}}` };
    throw new ClaudikinsError("NEEDS_SECRET", `The secret ${given} is not set`, {
      hint: `Set it: claudikins secrets set ${given}`,
    });
  }
  const random = randomBytes(nameBytes).toString("hex");
  const name = `HOOK_${program.replaceAll("-", "_")}`.slice(0, 48).concat("_", random).toUpperCase();
  const value = `${form === "standard" ? "whsec_" : ""}${randomBytes(secretBytes).toString("base64")}`;
  return { reference: `\${secret:${name}}`, made: { name, value } };
}

function resourceSource(given: string, { servers }: Config): EventSource {
  const [, server = "", uri = ""] = /^([^=]+)=(.+)$/s.exec(given) ?? [];
  if (servers.has(server) && URL.canParse(uri)) return { kind: "resource", server, uri };
  const problem = servers.has(server) ? `"${uri}" is not the URI of a resource` : `--resource ${given} names no server`;
  throw new ClaudikinsError("USAGE", problem, {
    hint: `Example: --resource ${servers.keys().next().value ?? "docs"}=file:///notes.md`,
  });
}

function listSource(given: string, { servers }: Config): EventSource {
  const [server = "", word] = given.split("=", 2);
  const list = listedKinds.find((each) => each === word);
  if (servers.has(server) && list !== undefined) return { kind: "list", server, list };
  const problem = servers.has(server)
    ? `--list takes ${listedKinds.join(", ")} of a server; got "${given}"`
    : `--list ${given} names no server`;
  throw new ClaudikinsError("USAGE", problem, {
    hint: `Example: --list ${servers.keys().next().value ?? "docs"}=tools`,
  });
}

/** The folder is the part of the path before the first word with a pattern. The path of a folder stands for the files in it. */
function fileSource(file: string, workspace: string, home: string): EventSource {
  const given = file.replace(/^~(?=\/)/, home).replaceAll("\\", "/");
  const isFolder = given.endsWith("/") || isFolderAt(isAbsolute(given) ? given : join(workspace, given));
  const path = isFolder ? `${given.replace(/\/+$/, "")}/*` : given;
  const words = path.split("/");
  const first = words.findIndex((word) => /[*?[\]{}!]/.test(word));
  const at = first === -1 ? words.length - 1 : first;
  const before = words.slice(0, at).join("/");
  const base = isAbsolute(path) ? before || "/" : join(workspace, before);
  return { kind: "file", folder: resolve(base), pattern: words.slice(at).join("/") };
}

function isFolderAt(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

export function mapOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((each) => {
      const [, name, expression] = /^([^=\s]+)=(?!=)(.+)$/s.exec(each) ?? [];
      if (name !== undefined && expression !== undefined) return [name, expression];
      throw new ClaudikinsError("USAGE", `--map ${each} has no name and expression`, {
        hint: "Example: --map number=event.body.issue.number",
      });
    }),
  );
}
