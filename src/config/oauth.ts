/** How a person, or claudikins by itself, signs in to a server on the network: `oauth` of its entry. */
import { z } from "zod";

export interface OAuthEntry {
  /** Of a client that was registered by hand; without it claudikins registers itself. */
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  /** Address of a document that describes the client: it is the client's id where the authorization server takes such. */
  clientMetadataUrl?: string | undefined;
  /** Each may hold several, separated by spaces: it may come from a variable. */
  scopes?: string[] | undefined;
  /** Where the browser comes back to, for clients that were registered with one port. */
  callbackPort?: number | undefined;
  grant: "authorization_code" | "client_credentials";
  /** PEM, or a JWK as JSON. */
  privateKey?: string | undefined;
  /** Relative paths count from the config file. */
  privateKeyFile?: string | undefined;
  /** Of the signature, as JWT names it; by default that of the key. */
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

/** Cursor's spelling. */
const cursorAuth = z.object({ CLIENT_ID: text, CLIENT_SECRET: text.optional(), scopes: scopes.optional() });

/** The schemas of `oauth` and `auth`, by what stands there: `auth` is a key of many hosts, with many meanings. */
export function signInSchemas(oauth: unknown, auth: unknown) {
  const isCursors = typeof auth === "object" && auth !== null && "CLIENT_ID" in auth;
  return {
    oauth: (oauth === false ? z.literal(false) : oauthObject).optional() as z.ZodType<false | OAuthEntry | undefined>,
    auth: (isCursors ? cursorAuth : z.unknown().transform(() => undefined)).optional() as z.ZodType<
      CursorAuth | undefined
    >,
  };
}

type CursorAuth = z.infer<typeof cursorAuth>;

/** Both spellings as one; where both stand, ours counts. */
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
