/** Keeps a value of an imported entry as a secret of the user. */
import { messageOf } from "../../base/errors.ts";
import { KeychainFailure } from "../../base/keychain.ts";
import { setSecret } from "../../config/secrets/store.ts";
import { warningLabel } from "../palette.ts";
import type { InitContext } from "./context.ts";

/** Returns false if the keychain does not answer. */
export async function keepSecret(name: string, value: string, { io, say }: InitContext): Promise<boolean> {
  try {
    const { why } = await setSecret(name, value, { env: io.env });
    const where = why === undefined ? "the system's keychain" : `a file that only you can read: the keychain ${why}`;
    await say(`Set ${name} in ${where}\n`);
    return true;
  } catch (error) {
    if (!(error instanceof KeychainFailure)) throw error;
    await say(`${warningLabel} the keychain ${messageOf(error)}, so ${name} stays in the config\n`);
    return false;
  }
}
