/** Values of triggers that are secret, such as the secret of a webhook: references, as configs have them. */
import { ClaudikinsError } from "../../base/errors.ts";
import type { Environment } from "../../config/environment.ts";
import { withReadValues } from "../../servers/values/read-values.ts";

const variable = /^\$\{([A-Za-z_]\w*)\}$/;

/**
 * The value of `${secret:NAME}`, `${command:…}` or `${VARIABLE}`; any other text is itself. `what` begins the message of an error. Throws
 * NEEDS_SECRET and NEEDS_VARIABLE.
 */
export async function referencedValue(reference: string, what: string, env: Environment): Promise<string> {
  const name = variable.exec(reference)?.[1];
  if (name === undefined) return withReadValues(reference, what, { env });
  const value = env[name];
  if (value) return value;
  throw new ClaudikinsError("NEEDS_VARIABLE", `${what} needs ${name} in the environment`);
}
