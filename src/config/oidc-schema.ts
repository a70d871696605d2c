/** The schema of `auth`. */
import { z } from "zod";
import { sealingFields } from "./credentials-schema.ts";
import { defaultOidc, defaultScim } from "./defaults.ts";
import { endpointProblem, issuerProblem, type OidcEntry, publicAddressProblem } from "./oidc.ts";

/** The difference of two clocks that a config may allow. Machines that set their clocks differ by less than a second. */
const maxClockSkewSeconds = 300;

const text = z.string().min(1);

const textWithout = (problemOf: (text: string) => string | undefined) =>
  z.string().superRefine((value, context) => {
    const message = problemOf(value);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });

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
