/** The secret of a webhook: a reference, as configs have them. */
import { ClaudikinsError } from "../../../base/errors.ts";
import type { Environment } from "../../../config/environment.ts";
import { withReadValues } from "../../../servers/values/read-values.ts";

const variable = /^\$\{([A-Za-z_]\w*)\}$/;

/** `${secret:NAME}`, `${command:…}` or `${VARIABLE}`. Throws NEEDS_SECRET and NEEDS_VARIABLE. */
export async function webhookSecret(reference: string, env: Environment): Promise<string> {
  const name = variable.exec(reference)?.[1];
  if (name === undefined) return withReadValues(reference, "Its secret", { env });
  const value = env[name];
  if (value) return value;
  throw new ClaudikinsError("NEEDS_VARIABLE", `Its secret needs ${name} in the environment`);
}
