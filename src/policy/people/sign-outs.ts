/** People who sign out at the provider, as it tells us (OpenID Connect Back-Channel Logout 1.0). */
import { isObject } from "../../base/json-object.ts";
import type { Oidc } from "../../config/oidc.ts";
import type { SignOut } from "../../store/people.ts";
import { invalid, looksLikeJwt, type PersonClaims, personId, verified } from "./claims.ts";
import type { Provider } from "./provider.ts";

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout";

/** The person and the session in a logout token for the client of the page. Throws PersonRefused. */
export async function signOutIn(token: string, provider: Provider, oidc: Oidc): Promise<SignOut & { id: string }> {
  if (!looksLikeJwt(token)) throw invalid("it is not a JWT");
  const { clientId, clockSkewSeconds: skewSeconds } = oidc;
  if (clientId === undefined) throw invalid("the config has no auth.oidc.clientId for which it could be");
  const {
    iss = "",
    sub = "",
    iat = 0,
    sid,
    events,
    nonce,
  } = await verified(token, provider, {
    audience: [clientId],
    skewSeconds,
  });
  if (!isObject(events) || !isObject(events[logoutEvent])) throw invalid("it tells of no sign-out");
  if (nonce !== undefined) throw invalid("a logout token has no nonce");
  return { id: personId(iss, sub), session: typeof sid === "string" ? sid : "", at: iat * 1_000 };
}

/**
 * Whether a token ended with a sign-out. If the sign-out was of one session, other tokens stay. A token that does not say when it was issued
 * ends when the provider says so.
 */
export function isEndedBy(
  { session, issuedAt }: Pick<PersonClaims, "session" | "issuedAt">,
  signOut: SignOut,
): boolean {
  if (signOut.session !== "") return session === signOut.session;
  return issuedAt !== undefined && issuedAt <= signOut.at;
}
