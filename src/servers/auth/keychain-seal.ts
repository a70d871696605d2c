/** Seals the user's own sign-ins. The key is in the system's keychain, so that the file alone is of no use. */
import { randomBytes } from "node:crypto";
import { KeychainFailure, keychainItem, setKeychainItem } from "../../base/keychain.ts";
import { Seal } from "../../base/seal.ts";
import type { Environment } from "../../config/environment.ts";
import type { SignInSeal } from "./credentials.ts";
import { sealingKeysOf } from "./seal.ts";

/** The name of the key in the keychain. */
const item = "key of sign-ins";

/** Time in which a keychain that could not be used is not asked again for the key of sign-ins. */
const keychainRestMs = 60_000;

export class KeychainSeal implements SignInSeal {
  readonly #env: Environment;
  #seal: Seal | undefined;
  #failure: { why: string; until: number } | undefined;

  constructor(env: Environment) {
    this.#env = env;
  }

  /** Undefined until the key was read or made. */
  get seal(): Seal | undefined {
    return this.#seal;
  }

  get why(): string | undefined {
    return this.#failure && `the keychain ${this.#failure.why}`;
  }

  /** Reads the key. Undefined if there is none, or if the keychain cannot be used, which is not tried again for a while. */
  read(): Promise<Seal | undefined> {
    return this.#once(() => keychainItem(item, this.#env));
  }

  /** Reads the key, or makes one. Call it with the lock of the file. Undefined if the keychain cannot be used. */
  readOrMake(): Promise<Seal | undefined> {
    return this.#once(async () => {
      const found = await keychainItem(item, this.#env);
      if (found !== undefined) return found;
      await setKeychainItem(item, randomBytes(32).toString("base64"), this.#env);
      // A keychain that keeps nothing must not be used.
      return keychainItem(item, this.#env);
    });
  }

  async #once(keyOf: () => Promise<string | undefined>): Promise<Seal | undefined> {
    if (this.#seal) return this.#seal;
    if (this.#failure && performance.now() < this.#failure.until) return undefined;
    try {
      const key = await keyOf();
      if (key === undefined) this.#fail("is locked, or does not have their key", 0);
      else this.#seal = new Seal(sealingKeysOf({ keys: [key], file: undefined, needs: [] }), "the user's sign-ins");
    } catch (error) {
      if (!(error instanceof KeychainFailure)) throw error;
      this.#fail(error.message);
    }
    return this.#seal;
  }

  #fail(why: string, restMs = keychainRestMs): void {
    this.#failure = { why, until: performance.now() + restMs };
  }
}
