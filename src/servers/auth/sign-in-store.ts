/** Opens the sign-ins that all callers share: the user's, or a team's with a database. */
import { type Sealing, sealingOf } from "../../config/credentials.ts";
import { documentsOf } from "../../config/documents.ts";
import type { Environment } from "../../config/environment.ts";
import { CredentialStore } from "./credentials.ts";

export interface SignInStoreOptions {
  /** The environment of this process. */
  env: Environment;
  /** The keys of the config, for a database. Default: the keys of the environment. */
  sealing?: Sealing | undefined;
  warn?: ((message: string) => void) | undefined;
}

/** `file` is their document. The user's sign-ins are sealed with a key of the keychain, and a team's with the keys of the config. */
export async function signInStore(file: string, { env, sealing, warn }: SignInStoreOptions): Promise<CredentialStore> {
  const documents = documentsOf(env);
  if (documents.areFiles) {
    const { KeychainSeal } = await import("./keychain-seal.ts");
    return new CredentialStore(file, warn, { signInSeal: new KeychainSeal(env) });
  }
  const { TeamSeal } = await import("./team-seal.ts");
  const signInSeal = new TeamSeal(sealing ?? sealingOf({}, env), env);
  await signInSeal.read();
  return new CredentialStore(file, warn, { signInSeal, documents });
}
