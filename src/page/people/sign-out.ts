/** Signs people out at the provider of the config: RP-Initiated Logout 1.0 of OpenID Connect. */
import type { Oidc } from "../../config/oidc.ts";
import type { Provider } from "../../policy/people/provider.ts";
import { PersonRefused } from "../../policy/people/refused.ts";

/** The path that the provider sends browsers back to, below `pagePath`. */
export const signedOutPath = "signed-out";

/**
 * The address at which the browser ends the session that `idToken` is of. The provider sends it back to `redirect`. Undefined if the provider
 * has no such address, or does not answer.
 */
export async function providerSignOut(
  { clientId = "" }: Oidc,
  provider: Provider,
  { idToken, redirect }: { idToken: string; redirect: string },
): Promise<URL | undefined> {
  const { end_session_endpoint: endpoint } = await provider.metadata().catch((error: unknown) => {
    if (error instanceof PersonRefused) return { end_session_endpoint: undefined };
    throw error;
  });
  if (!endpoint) return undefined;
  const url = new URL(endpoint);
  const query = { id_token_hint: idToken, client_id: clientId, post_logout_redirect_uri: redirect };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}
