/** Seals credentials with AES-256-GCM, so that the files, or the rows of a database, are of no use alone. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { ClaudikinsError, systemCodeOf } from "../../base/errors.ts";
import { sha256 } from "../../base/sha256.ts";
import type { Sealing } from "../../config/credentials.ts";

const algorithm = "aes-256-gcm";
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

interface SealingKey {
  /** Names the key in sealed texts. It says nothing about the key. */
  id: string;
  bytes: Buffer;
}

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
  return { id: sha256(`claudikins sealing key ${bytes.toString("hex")}`).slice(0, 8), bytes };
}

const hint = "To make a key: openssl rand -base64 32. Give it in CLAUDIKINS_SEALING_KEY, or with auth.sealingKeyFile.";

function unusable(why: string, what: string): ClaudikinsError {
  return new ClaudikinsError("CONFIG_INVALID", `The ${what} cannot be sealed: ${why}`, { hint });
}

export interface Opened {
  text: string;
  /** Another key than the first has sealed it. */
  isOld: boolean;
}

export class Seal {
  readonly #keys: readonly SealingKey[];
  readonly #owner: string;

  /** `owner` names whose texts are sealed. The seals of others do not open, whatever file they are moved to. */
  constructor(keys: readonly SealingKey[], owner: string) {
    this.#keys = keys;
    this.#owner = owner;
  }

  /** `about` says what the text is. It must be the same when the text is opened. */
  seal(text: string, about: string): string {
    const [{ id, bytes }] = this.#keys as [SealingKey];
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, bytes, nonce, { authTagLength: tagBytes });
    cipher.setAAD(this.#bound(about, id));
    const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return [id, nonce.toString("base64url"), sealed.toString("base64url")].join(".");
  }

  /** Undefined if none of the keys has sealed the text, or if it was changed or is about something else. */
  open(sealed: string, about: string): Opened | undefined {
    const [id = "", nonce = "", body = ""] = sealed.split(".");
    const place = this.#keys.findIndex((key) => key.id === id);
    const bytes = Buffer.from(body, "base64url");
    if (place < 0 || bytes.length < tagBytes) return undefined;
    try {
      const decipher = createDecipheriv(algorithm, this.#keys[place]!.bytes, Buffer.from(nonce, "base64url"), {
        authTagLength: tagBytes,
      });
      decipher.setAAD(this.#bound(about, id));
      decipher.setAuthTag(bytes.subarray(-tagBytes));
      const text = Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]).toString("utf8");
      return { text, isOld: place > 0 };
    } catch {
      return undefined;
    }
  }

  #bound(about: string, key: string): Buffer {
    return Buffer.from(JSON.stringify(["claudikins", this.#owner, about, key]));
  }
}
