/** Seals the sign-ins that the machines of a team share, with the keys of the config: nothing in their database can be read without one. */
import { messageOf } from "../../base/errors.ts";
import { Seal } from "../../base/seal.ts";
import type { Sealing } from "../../config/credentials.ts";
import type { Environment } from "../../config/environment.ts";
import type { SignInSeal } from "./credentials.ts";
import { sealingKeysOf, withSecrets } from "./seal.ts";

export class TeamSeal implements SignInSeal {
  readonly #sealing: Sealing;
  readonly #env: Environment;
  #seal: Seal | undefined;
  #why: string | undefined;

  constructor(sealing: Sealing, env: Environment) {
    this.#sealing = sealing;
    this.#env = env;
  }

  get seal(): Seal | undefined {
    return this.#seal;
  }

  get why(): string | undefined {
    return this.#why;
  }

  read(): Promise<Seal | undefined> {
    return this.readOrMake().catch(() => undefined);
  }

  /** Throws what `sealingKeysOf` throws, and NEEDS_SECRET: nothing is stored without a key. */
  async readOrMake(): Promise<Seal> {
    if (this.#seal) return this.#seal;
    try {
      const keys = sealingKeysOf(await withSecrets(this.#sealing, this.#env), "sign-ins in the database");
      this.#seal = new Seal(keys, "the sign-ins of a team");
      return this.#seal;
    } catch (error) {
      this.#why = `their key cannot be used (${messageOf(error)})`;
      throw error;
    }
  }
}
