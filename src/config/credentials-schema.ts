/** The schemas of `credentials` and `exchange` of a server, and of the keys that seal credentials of people. */
import { z } from "zod";
import { credentialKinds, type ExchangeEntry, exchangeKinds, subjectTokens } from "./credentials.ts";
import { endpointProblem } from "./oidc.ts";

const text = z.string().min(1);

const tokenUrl = z.string().superRefine((value, context) => {
  const message = endpointProblem(value);
  if (message !== undefined) context.addIssue({ code: "custom", message });
});

const exchangeFields = {
  /** The provider's answer: a token for the server, or an assertion for the server's authorization server. */
  kind: z.enum(exchangeKinds).optional(),
  /** The person's token that the provider gets. */
  subject: z.enum(subjectTokens).optional(),
  /** The token endpoint of the company's provider. */
  tokenUrl,
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

export const sealingFields = {
  /** A key of 32 bytes in base64, or several: the first one seals, and each of them opens. */
  sealingKey: z
    .union([text, z.array(text).min(1)], "expected a string or an array of strings")
    .transform((value) => [value].flat())
    .optional(),
  /** A file with one such key on each line. Relative paths are resolved against the config file. */
  sealingKeyFile: text.optional(),
};
