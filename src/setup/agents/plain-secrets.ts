/** Finds secrets in plain text in imported entries, and replaces them by references to secrets of the user. */
import { objectAt, stringsIn } from "../../base/json-object.ts";
import type { Environment } from "../../config/environment.ts";
import { isSecretName } from "../../config/secrets/references.ts";
import { readSecret, storedSecret } from "../../config/secrets/store.ts";
import { looksLikeToken, looksSecret } from "../../servers/values/secrets.ts";
import type { MergedServer } from "./merge.ts";

/** A server whose entry is changed when it gets references. */
type Holder = Pick<MergedServer, "name" | "entry">;

export interface PlainSecret {
  server: Holder;
  /** The key of the entry, and the place below it. */
  at: readonly [string, ...(string | number)[]];
  /** The name of the variable, the header, the option, or the part of an address. */
  key: string;
  /** Where it begins in the text, which may have `Bearer ` before it. */
  start: number;
  value: string;
}

/** The secrets in entries that the config does not have yet. A reference to a variable is not a secret. */
export function plainSecretsOf(servers: readonly MergedServer[]): PlainSecret[] {
  return servers.filter(({ isThere }) => !isThere).flatMap((server) => secretsIn(server));
}

/** The secrets in one entry. */
export function secretsIn(server: Holder): PlainSecret[] {
  const { entry } = server;
  const args = stringsIn(entry["args"]);
  const found: [at: PlainSecret["at"], name: string, text: unknown][] = [
    ...(["env", "headers"] as const).flatMap((place) =>
      Object.entries(objectAt(entry, [place])).map(
        ([key, text]) => [[place, key], key, text] as [[string, string], string, unknown],
      ),
    ),
    ...args.map((text, index): [PlainSecret["at"], string, unknown] => {
      const flag = /^--?([\w-]+)$/.exec(args[index - 1] ?? "")?.[1];
      return [["args", index], text.startsWith("-") ? "" : (flag ?? ""), text];
    }),
    ...["url", "serverUrl", "httpUrl"].map((key): [PlainSecret["at"], string, unknown] => [[key], key, entry[key]]),
  ];
  return found.flatMap(([at, name, text]) => {
    if (typeof text !== "string") return [];
    return secretsOf(name, text).map((secret) => ({ server, at, ...secret }));
  });
}

type Part = Pick<PlainSecret, "key" | "start" | "value">;

/**
 * The secrets in one text: the secrets of an address, the value of `NAME=value` or `Name: value` if the name suggests a secret, or the
 * whole text.
 */
function secretsOf(name: string, text: string): Part[] {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return secretsOfAddress(name, text);
  if (reference.test(text)) return [];
  const [, inner = name, before = "", value = text] =
    /^(?=-{0,2}([\w-]+))(-{0,2}[\w-]+(?:=|: ?))(.+)$/s.exec(text) ?? [];
  const part =
    before === "" || !looksSecret(inner, withoutScheme(value).value)
      ? { key: name, before: "", value: text }
      : { key: inner, before, value };
  const { scheme, value: secret } = withoutScheme(part.value);
  return looksSecret(part.key, secret)
    ? [{ key: part.key, start: part.before.length + scheme.length, value: secret }]
    : [];
}

function withoutScheme(text: string): { scheme: string; value: string } {
  const [, scheme = "", value = text] = /^((?:Bearer|Basic|Token|ApiKey) +)(.+)$/is.exec(text) ?? [];
  return { scheme, value };
}

/** The password, the parameters with the name of a secret, and the parts of the path that look like one. */
function secretsOfAddress(name: string, text: string): Part[] {
  const named = (key: string) => [name, key].filter(Boolean).join("_");
  const [, before = "", password = ""] = /^([a-z][a-z\d+.-]*:\/\/[^/?#@:]*:)([^/?#@]+)@/i.exec(text) ?? [];
  const parameters = [...text.matchAll(/[?&]([^=&#]+)=([^&#]+)/g)].map(({ 1: key = "", 2: value = "", index }) => ({
    key,
    start: index + key.length + 2,
    value,
  }));
  const path = [...text.matchAll(/(?<=^[^?#]*[^/:?#])\/([^/?#]+)/g)].map(({ 1: value = "", index }) => ({
    key: named("token"),
    start: index + 1,
    value,
  }));
  return [
    ...(password === "" ? [] : [{ key: named("password"), start: before.length, value: password }]),
    ...parameters.filter(({ key, value }) => looksSecret(key, value)),
    ...path.filter(({ value }) => looksSecret("", value) || looksLikeToken(value)),
  ].filter(({ value }) => !reference.test(value));
}

const reference = /\$\{|\{env:|^\$[A-Z_]+$/;

type NamedSecret = Pick<PlainSecret, "server" | "at" | "key" | "value">;

/** Chooses a name for each secret. Equal values of a server share a name. A name that already has another value is not used. */
export async function namesFor<Secret extends NamedSecret>(
  secrets: readonly Secret[],
  env: Environment,
): Promise<Map<Secret, string>> {
  const values = new Map<string, string>();
  const names = new Map<Secret, string>();
  for (const secret of secrets) {
    const same = [...names].find(([{ server, value }]) => server === secret.server && value === secret.value);
    if (same) {
      names.set(secret, same[1]);
      continue;
    }
    for (const name of possibleNames(secret)) {
      const there = values.get(name) ?? (storedSecret(name, env) && (await readSecret(name, env).catch(() => "")));
      if (there !== undefined && there !== secret.value) continue;
      values.set(name, secret.value);
      names.set(secret, name);
      break;
    }
  }
  return names;
}

/** `GITHUB_TOKEN`, `GITHUB_GITHUB_TOKEN`, `GITHUB_GITHUB_TOKEN_2` and so on. */
function* possibleNames({ server, at, key }: NamedSecret): Generator<string> {
  if (at[0] === "env" && isSecretName(key)) yield key;
  const whole = [server.name, key].filter(Boolean).join("_").replace(/\W+/g, "_").toUpperCase();
  const base = (/^\d/.test(whole) ? `_${whole}` : whole).slice(0, 56);
  yield base;
  for (let number = 2; ; number++) yield `${base}_${number}`;
}

/** Replaces the secrets in their entries by references to these names. */
export function refer(names: Iterable<readonly [PlainSecret, name: string]>): void {
  // From the end, because a text may have several.
  const fromEnd = [...names].sort(([one], [other]) => other.start - one.start);
  for (const [secret, name] of fromEnd) {
    const { server, start, value } = secret;
    const [place, key] = secret.at;
    const whole = server.entry[place];
    const before = String(key === undefined ? whole : Object(whole)[key]);
    const text = `${before.slice(0, start)}\${secret:${name}}${before.slice(start + value.length)}`;
    const isList = Array.isArray(whole);
    const changed =
      key === undefined ? text : isList ? whole.with(Number(key), text) : { ...Object(whole), [key]: text };
    server.entry = { ...server.entry, [place]: changed };
  }
}
