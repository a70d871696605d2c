/** Seals texts with AES-256-GCM: without the key, nobody can read, change or make one. */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { isObject, parsedJson } from "./json-object.ts";
import { sha256 } from "./sha256.ts";

/** Characters of a sealed value that another party keeps for us. Anyone can send longer values, but these are not ours. */
const maxSealedChars = 8_000;

const algorithm = "aes-256-gcm";
/** A key of AES-256. */
export const keyBytes = 32;
/** A nonce of GCM. */
const nonceBytes = 12;
/** A tag of GCM. */
const tagBytes = 16;

export interface SealingKey {
  /** Names the key in sealed texts without revealing it. */
  id: string;
  bytes: Uint8Array;
}

export function sealingKeyFrom(bytes: Uint8Array): SealingKey {
  const hex = Buffer.from(bytes).toString("hex");
  return { id: sha256(`claudikins sealing key ${hex}`).slice(0, 8), bytes };
}

/** A key for one purpose, made of a key that has several. */
export function derivedKey(key: Uint8Array, purpose: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHmac("sha256", key).update(purpose).digest());
}

/** A key that exists only in this process. */
export function ownKey(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(randomBytes(keyBytes));
}

export interface Opened {
  text: string;
  /** A key other than the first has sealed it. */
  isOld: boolean;
}

export class Seal {
  readonly #keys: readonly SealingKey[];
  readonly #owner: string;

  /** `owner` names the owner of the texts. Texts of other owners cannot be opened, even if they are moved to another file. */
  constructor(keys: readonly SealingKey[], owner: string) {
    this.#keys = keys;
    this.#owner = owner;
  }

  /** `about` describes the text. It must be the same when the text is opened. */
  seal(text: string, about: string): string {
    const [{ id, bytes }] = this.#keys as [SealingKey];
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, bytes, nonce, { authTagLength: tagBytes });
    cipher.setAAD(this.#bound(about, id));
    const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return sealedText(id, nonce, sealed);
  }

  /** Undefined if none of the keys has sealed the text, or if it was changed or is about something else. */
  open(sealed: string, about: string): Opened | undefined {
    const [id = "", ...parts] = sealed.split(".");
    const [nonce = Buffer.alloc(0), bytes = Buffer.alloc(0)] = parts.map((part) => Buffer.from(part, "base64url"));
    const place = this.#keys.findIndex((key) => key.id === id);
    // Base64 has several texts for the same bytes. Only the form that we write is accepted.
    const isOurs = nonce.length === nonceBytes && bytes.length >= tagBytes && sealedText(id, nonce, bytes) === sealed;
    if (place < 0 || !isOurs) return undefined;
    try {
      const decipher = createDecipheriv(algorithm, this.#keys[place]!.bytes, nonce, {
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

function sealedText(id: string, nonce: Buffer, body: Buffer): string {
  return [id, nonce.toString("base64url"), body.toString("base64url")].join(".");
}

/** Values that other parties keep for us for some time and return. Each is sealed for one purpose. */
export class SealedValues<Value> {
  readonly #seal: Seal;
  readonly #keptMs: number;

  /** `key` may serve other purposes too. `keptMs` is how long a value can be opened. */
  constructor(key: Uint8Array, purpose: string, keptMs: number) {
    this.#seal = new Seal([sealingKeyFrom(derivedKey(key, purpose))], purpose);
    this.#keptMs = keptMs;
  }

  /** `about` is needed again to open the value. */
  seal(value: Value, about = ""): string {
    return this.#seal.seal(JSON.stringify({ value, endsAt: Date.now() + this.#keptMs }), about);
  }

  /** Undefined if the value is not one of ours, is about something else, or its time is over. */
  open(sealed: string, about = ""): Value | undefined {
    if (sealed.length > maxSealedChars) return undefined;
    const found = parsedJson(this.#seal.open(sealed, about)?.text ?? "");
    return isObject(found) && Number(found["endsAt"]) > Date.now() ? (found["value"] as Value) : undefined;
  }
}
