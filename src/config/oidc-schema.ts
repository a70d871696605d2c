/** The schemas of `auth` in the config, and of the credentials in the entry of a server. */
import { z } from "zod";
import { credentialKinds, type ExchangeEntry, exchangeKinds, subjectTokens } from "./credentials.ts";
import { defaultOidc, defaultScim } from "./defaults.ts";
import { endpointProblem, issuerProblem, type OidcEntry, publicAddressProblem } from "./oidc.ts";

const text = z.string().min(1);

const textWithout = (problemOf: (text: string) => string | undefined) =>
  z.string().superRefine((value, context) => {
    const message = problemOf(value);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });

const exchangeFields = {
  /** The provider's answer: a token for the server, or an assertion for the server's authorization server. */
  kind: z.enum(exchangeKinds).optional(),
  /** The person's token that the provider gets. */
  subject: z.enum(subjectTokens).optional(),
  /** The token endpoint of the company's provider. */
  tokenUrl: textWithout(endpointProblem),
  /** The server, as the provider names it. For an assertion: the issuer that the server's authorization server must have. */
  audience: text.optional(),
  /** The server's address, for providers that know it by that. */
  resource: text.optional(),
  scopes: z.array(text).optional(),
  /** The client of claudikins at the provider. */
  clientId: text,
  clientSecret: text.optional(),
};

const exchangeSchema: z.ZodType<ExchangeEntry> = z
  .object(exchangeFields)
  .superRefine(({ kind, audience, resource }, context) => {
    if (kind === "id-jag" || audience !== undefined || resource !== undefined) return;
    context.addIssue({ code: "custom", path: ["audience"], message: 'missing: needs "audience" or "resource"' });
  });

export const exchangeKeys = Object.keys(exchangeFields);

export const credentialFields = {
  /** Whether the server gets the same credentials for everybody, or each person's own. */
  credentials: z.enum(credentialKinds).optional(),
  exchange: exchangeSchema.optional(),
};

const sealingFields = {
  /** A key of 32 bytes in base64, or several: the first one seals, and each of them opens. */
  sealingKey: z
    .union([text, z.array(text).min(1)], "expected a string or an array of strings")
    .transform((value) => [value].flat())
    .optional(),
  /** A file with one such key on each line. Relative paths are resolved against the config file. */
  sealingKeyFile: text.optional(),
};

/** The difference of two clocks that a config may allow. Machines that set their clocks differ by less than a second. */
const maxClockSkewSeconds = 300;

const groups = z.array(text);

const introspectionFields = {
  /** The endpoint, if it is not the one in the metadata of the provider. */
  url: textWithout(endpointProblem).optional(),
  /** The client that asks. Providers answer only to clients that they know. */
  clientId: text,
  clientSecret: text,
};

export const introspectionKeys = Object.keys(introspectionFields);

const scimFields = {
  /** The token of the directory. */
  token: text,
  /** The attribute of its users that tokens have as `claim`. */
  attribute: z.enum(["externalId", "userName"]).default(defaultScim.attribute),
  claim: text.default(defaultScim.claim),
  /** Whether the groups are those of the directory. */
  groups: z.boolean().default(defaultScim.groups),
};

export const scimKeys = Object.keys(scimFields);

const oidcFields = {
  issuer: textWithout(issuerProblem),
  /** One value, or several. A token must have one of them. */
  audience: z.union([text, z.array(text).min(1)], "expected a string or an array of strings"),
  /** The scopes that a token must have. */
  scopes: z.array(z.string().regex(/^[^\s"\\]+$/, "use one scope for each string")).default([]),
  /** The claim with the groups of a person. */
  groups: text.default(defaultOidc.groups),
  clockSkewSeconds: z.int().min(0).max(maxClockSkewSeconds).default(defaultOidc.clockSkewSeconds),
  /** The address of `serve --http` for its users, if it is not the one that requests are sent to. */
  address: textWithout(publicAddressProblem).optional(),
  /** The groups that may use each door. `mcp` is the whole config. `*` is everybody who has signed in. */
  doors: z.record(z.string(), groups).default({}),
  /** The groups that may approve calls. */
  approvers: groups.default([]),
  /** The groups that may see, revoke and delete people, and see and end their executions. */
  administrators: groups.default([]),
  /** Days without a visit after which everything that is kept of a person is deleted. */
  keepDays: z.int().min(1).max(3_650).optional(),
  /** The client of the page at the provider. */
  clientId: text.optional(),
  clientSecret: text.optional(),
  /** How access tokens that are not JWTs are checked. */
  introspection: z.object(introspectionFields).optional(),
  /** The directory that says who the people are. */
  scim: z.object(scimFields).optional(),
};

const oidcSchema = z.object(oidcFields).superRefine(({ clientId, clientSecret }, context) => {
  if (clientSecret === undefined || clientId !== undefined) return;
  context.addIssue({ code: "custom", path: ["clientId"], message: "missing: a secret needs a client ID" });
});

export const authFields = {
  oidc: oidcSchema
    .transform(({ audience, ...rest }): OidcEntry => ({ ...rest, audience: [audience].flat() }))
    .optional(),
  ...sealingFields,
};

export const authSchema = z.object(authFields).optional();

export const oidcKeys = Object.keys(oidcFields);
