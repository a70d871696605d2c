/** Finds secrets in plain text in imported entries, and replaces them by references to secrets of the user. */
import { isObject } from "../../base/json-object.ts";
import type { PortableEntry } from "../../config/config-file.ts";
import type { Environment } from "../../config/environment.ts";
import { isSecretName } from "../../config/secrets/references.ts";
import { readSecret, storedSecret } from "../../config/secrets/store.ts";
import { looksSecret } from "../../servers/secrets.ts";
import type { MergedServer } from "./merge.ts";

export interface PlainSecret {
  server: MergedServer;
  place: "env" | "headers";
  /** The name of the variable or the header. */
  key: string;
  /** Before the secret, such as `Bearer `. */
  scheme: string;
  value: string;
}

/** The secrets in `env` and `headers` of entries that the config does not have yet. References to variables are none. */
export function plainSecretsOf(servers: readonly MergedServer[]): PlainSecret[] {
  return servers
    .filter(({ isThere }) => !isThere)
    .flatMap((server) =>
      (["env", "headers"] as const).flatMap((place) =>
        Object.entries(textsOf(server.entry, place)).flatMap(([key, text]): PlainSecret[] => {
          const [, scheme = "", value = text] = /^((?:Bearer|Basic|Token|ApiKey) +)(.+)$/is.exec(text) ?? [];
          return looksSecret(key, value) ? [{ server, place, key, scheme, value }] : [];
        }),
      ),
    );
}

const reference = /\$\{|\{env:|^\$[A-Z_]+$/;

function textsOf(entry: PortableEntry, place: "env" | "headers"): Record<string, string> {
  const values = isObject(entry[place]) ? Object.entries(entry[place]) : [];
  return Object.fromEntries(
    values.filter((pair): pair is [string, string] => typeof pair[1] === "string" && !reference.test(pair[1])),
  );
}

/** A name for each secret. Equal values share one, and a name that has another value already is not used. */
export async function namesFor(secrets: readonly PlainSecret[], env: Environment): Promise<Map<PlainSecret, string>> {
  const values = new Map<string, string>();
  const names = new Map<PlainSecret, string>();
  for (const secret of secrets) {
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
function* possibleNames({ server, place, key }: PlainSecret): Generator<string> {
  if (place === "env" && isSecretName(key)) yield key;
  const whole = `${server.name}_${key}`.replace(/\W+/g, "_").toUpperCase();
  const base = (/^\d/.test(whole) ? `_${whole}` : whole).slice(0, 56);
  yield base;
  for (let number = 2; ; number++) yield `${base}_${number}`;
}

/** Replaces the secret in its entry. */
export function refer({ server, place, key, scheme }: PlainSecret, name: string): void {
  const values = server.entry[place] as Record<string, unknown>;
  server.entry = { ...server.entry, [place]: { ...values, [key]: `${scheme}\${secret:${name}}` } };
}
