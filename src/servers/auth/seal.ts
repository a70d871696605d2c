/** The keys that seal credentials: the files, or the rows of a database, are of no use without them. */
import { readFileSync } from "node:fs";
import { ClaudikinsError, systemCodeOf } from "../../base/errors.ts";
import { keyBytes, type SealingKey, sealingKeyFrom } from "../../base/seal.ts";
import type { Sealing } from "../../config/credentials.ts";
import type { Environment } from "../../config/environment.ts";
import { hasReference } from "../../config/secrets/references.ts";

/**
 * The keys of the config, in their order. `what` is sealed with them, as errors name it. Throws NEEDS_VARIABLE, FILE_NOT_FOUND, and
 * CONFIG_INVALID if there is none or one is unusable.
 */
export function sealingKeysOf({ keys, file, needs }: Sealing, what: string = "credentials of people"): SealingKey[] {
  if (needs.length > 0) {
    const names = needs.join(", ");
    throw new ClaudikinsError("NEEDS_VARIABLE", `The ${what} need ${names} in the environment`, { hint });
  }
  const texts = [...keys, ...(file === undefined ? [] : linesOf(file))].flatMap((text) => text.split(/[\s,]+/));
  const found = texts.filter((text) => text !== "").map((text) => keyOf(text, what));
  if (found.length === 0) throw unusable("there is no key", what);
  return found;
}

/** The settings with the values of references to secrets. Throws NEEDS_SECRET. */
export async function withSecrets(sealing: Sealing, env: Environment): Promise<Sealing> {
  if (!hasReference(sealing.keys)) return sealing;
  const { withReadValues } = await import("../values/read-values.ts");
  return { ...sealing, keys: await withReadValues(sealing.keys, "auth.sealingKey", { env }) };
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch (error) {
    const why = systemCodeOf(error) ?? "unknown error";
    throw new ClaudikinsError("FILE_NOT_FOUND", `Cannot read auth.sealingKeyFile: ${why}`, { hint, cause: error });
  }
}

function keyOf(text: string, what: string): SealingKey {
  const isHex = /^[\da-f]{64}$/i.test(text);
  const bytes = Buffer.from(text, isHex ? "hex" : "base64");
  if (bytes.length !== keyBytes) throw unusable("a key must have 32 bytes, in base64", what);
  return sealingKeyFrom(bytes);
}

const hint = "To make a key: openssl rand -base64 32. Give it in CLAUDIKINS_SEALING_KEY, or with auth.sealingKeyFile.";

function unusable(why: string, what: string): ClaudikinsError {
  return new ClaudikinsError("CONFIG_INVALID", `The ${what} cannot be sealed: ${why}`, { hint });
}
