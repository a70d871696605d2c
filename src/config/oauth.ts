/** How claudikins signs in to a server on the network: the key `oauth` of its entry. */
import { z } from "zod";

export interface OAuthEntry {
  /** The ID of a client that was registered by hand. Without it, claudikins registers itself. */
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  /** The URL of a client ID metadata document. It becomes the client ID if the authorization server supports such documents. */
  clientMetadataUrl?: string | undefined;
  /** Each string may have several scopes, separated by spaces, because it may come from a variable. */
  scopes?: string[] | undefined;
  /** The port of the redirect URI, for clients that were registered with a fixed port. */
  callbackPort?: number | undefined;
  grant: "authorization_code" | "client_credentials";
  /** PEM, or a JWK as JSON. */
  privateKey?: string | undefined;
  /** Relative paths are resolved against the config file. */
  privateKeyFile?: string | undefined;
  /** The JWS name of the signature algorithm (RFC 7518). The default depends on the key. */
  algorithm?: string | undefined;
}

const text = z.string().min(1);

const scopes = z.union([z.array(text), z.string()], "expected a string or an array of strings");

const fields = z.object({
  clientId: text.optional(),
  clientSecret: text.optional(),
  clientMetadataUrl: z
    .string()
    .regex(/^https:\/\/[^/]+\/.|\$\{/, "expected an address that starts with https:// and has a path")
    .optional(),
  scopes: scopes.optional(),
  scope: scopes.optional(),
  callbackPort: z.int().min(1).max(65_535).optional(),
  grant: z.enum(["authorization_code", "client_credentials"]).default("authorization_code"),
  privateKey: text.optional(),
  privateKeyFile: text.optional(),
  algorithm: z
    .enum(["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"])
    .optional(),
});

export const oauthKeys = Object.keys(fields.shape);

const oauthObject = fields
  .superRefine(({ grant, clientId, clientSecret, privateKey, privateKeyFile }, context) => {
    const say = (key: string, message: string) => context.addIssue({ code: "custom", path: [key], message });
    if (privateKey !== undefined && privateKeyFile !== undefined) {
      say("privateKeyFile", '"privateKey" already gives the key');
    }
    const hasProof = clientSecret !== undefined || privateKey !== undefined || privateKeyFile !== undefined;
    if (hasProof && clientId === undefined) say("clientId", "missing: a secret or a key needs a client ID");
    if (grant !== "client_credentials") return;
    if (!hasProof) say("grant", 'needs a "clientSecret", a "privateKey" or a "privateKeyFile"');
  })
  .transform(({ scope, scopes: several = scope, ...rest }): OAuthEntry => {
    return { ...rest, ...(several === undefined ? {} : { scopes: [several].flat() }) };
  });

/** The spelling of Cursor. */
const cursorAuth = z.object({ CLIENT_ID: text, CLIENT_SECRET: text.optional(), scopes: scopes.optional() });

/**
 * Returns the schemas of `oauth` and `auth` for these values. `auth` is read only in Cursor's form, since other agents use the key
 * for other things.
 */
export function signInSchemas(oauth: unknown, auth: unknown) {
  const isCursors = typeof auth === "object" && auth !== null && "CLIENT_ID" in auth;
  return {
    oauth: (oauth === false ? z.literal(false) : oauthObject).optional() as z.ZodType<false | OAuthEntry | undefined>,
    auth: (isCursors ? cursorAuth : z.unknown().transform(() => undefined)).optional() as z.ZodType<
      CursorAuth | undefined
    >,
  };
}

/** Whether claudikins may sign in to the server. If a program makes its headers, only if the entry has settings for the sign-in. */
export function wantsSignIn({
  oauth,
  headersHelper,
}: {
  oauth?: unknown;
  headersHelper?: string | undefined;
}): boolean {
  return oauth !== false && (headersHelper === undefined || oauth !== undefined);
}

type CursorAuth = z.infer<typeof cursorAuth>;

/** Merges both spellings. `oauth` has precedence over `auth`. */
export function signInOf(oauth: false | OAuthEntry | undefined, auth: CursorAuth | undefined) {
  if (oauth !== undefined || auth === undefined) return oauth;
  const { CLIENT_ID, CLIENT_SECRET, scopes: several } = auth;
  return {
    clientId: CLIENT_ID,
    ...(CLIENT_SECRET === undefined ? {} : { clientSecret: CLIENT_SECRET }),
    ...(several === undefined ? {} : { scopes: [several].flat() }),
    grant: "authorization_code" as const,
  };
}
