/** The keys of a server's entry that say whether people use it with their own credentials, and of `auth` that seal these. */
import type { Environment } from "./environment.ts";
import { expand } from "./expand.ts";
import type { SourceAuth } from "./sources.ts";

/** `shared`: one sign-in for all callers. `user`: each person's own. `exchange`: tokens that are exchanged for a person's token. */
export const credentialKinds = ["shared", "user", "exchange"] as const;

/**
 * `token`: the provider of the company gives a token for the server. `id-jag`: it gives an assertion, for which the authorization server of
 * the server gives a token (enterprise-managed authorization of MCP).
 */
export const exchangeKinds = ["token", "id-jag"] as const;

/** The token of a person that an exchange starts from: of the agent, or of the person's sign-in to the page. */
export const subjectTokens = ["access-token", "id-token"] as const;

export type SubjectToken = (typeof subjectTokens)[number];

/** How the token of a person is exchanged for one of the server (RFC 8693). `clientSecret` is a secret. */
export interface ExchangeEntry {
  kind?: (typeof exchangeKinds)[number] | undefined;
  subject?: SubjectToken | undefined;
  tokenUrl: string;
  audience?: string | undefined;
  resource?: string | undefined;
  scopes?: string[] | undefined;
  clientId: string;
  clientSecret?: string | undefined;
}

export interface CredentialKeys {
  credentials?: (typeof credentialKinds)[number] | undefined;
  exchange?: ExchangeEntry | undefined;
}

/** Whether each person has credentials of the person's own for the server. */
export function usesOwn({ credentials = "shared" }: CredentialKeys): boolean {
  return credentials !== "shared";
}

/** Assertions start from ID tokens unless the entry chooses another token, as their specification says. */
export function subjectOf({ kind, subject }: ExchangeEntry): SubjectToken {
  return subject ?? (kind === "id-jag" ? "id-token" : "access-token");
}

/** Whether each person opens a page of claudikins in a browser before the server can be used. */
export function needsPage({ credentials, exchange }: CredentialKeys): boolean {
  return credentials === "user" || (exchange !== undefined && subjectOf(exchange) === "id-token");
}

/** The keys of `auth` that seal the credentials of people: the first key seals, and each of them opens. */
export interface SealingEntry {
  sealingKey?: string[] | undefined;
  sealingKeyFile?: string | undefined;
}

/** The settings with the values of their variables. `keys` are secrets. */
export interface Sealing {
  keys: string[];
  /** Absolute. It has one key on each line. */
  file: string | undefined;
  /** The variables that are referred to and not set. Servers that use people's own credentials do not start until they are. */
  needs: string[];
}

const usualKey = ["${CLAUDIKINS_SEALING_KEY}"];

export function sealingOf({ sealingKey, sealingKeyFile }: SealingEntry, env: Environment): Sealing {
  const keys = sealingKey ?? (sealingKeyFile === undefined ? usualKey : []);
  const { value, missing } = expand({ keys, file: sealingKeyFile }, env);
  return { keys: value.keys, file: value.file, needs: missing };
}

interface Entry extends CredentialKeys {
  env?: Record<string, string> | undefined;
  url?: string | undefined;
  headers?: Record<string, string> | undefined;
  /** Of a source. */
  auth?: SourceAuth | undefined;
  headersHelper?: string | undefined;
  oauth?: false | OAuthClientKeys | undefined;
}

interface OAuthClientKeys {
  grant: string;
  clientId?: string | undefined;
  clientMetadataUrl?: string | undefined;
}

interface Auth {
  oidc?: { clientId?: string | undefined } | undefined;
}

/** Why an entry cannot use people's own credentials: the key, and the problem. Undefined if it can, or if it does not want to. */
export function credentialsProblem(entry: Entry, auth: Auth | undefined): { key: string; text: string } | undefined {
  const { credentials, exchange, url, headers = {}, headersHelper, oauth } = entry;
  const isExchange = credentials === "exchange";
  const keys = personKeysIn(entry);
  if (keys.length > 0) {
    const problem = keysProblem(keys[0]!, entry);
    if (problem) return problem;
  }
  if (exchange && !isExchange) return { key: "exchange", text: 'needs "credentials": "exchange" in the same entry' };
  if (!usesOwn(entry)) return undefined;
  const say = (text: string) => ({ key: "credentials", text: `"${credentials}" ${text}` });
  if (!auth?.oidc) return say('needs people who sign in: add "auth": { "oidc": … } to the config');
  if (isExchange && url === undefined) return say('needs a server on the network: use "user" for a program');
  if (isExchange && !exchange) return say('needs "exchange": { "tokenUrl": …, "clientId": … } in the same entry');
  if (headersHelper !== undefined) return say('cannot be used with "headersHelper", which is the same for everybody');
  const token = Object.entries(headers).find(([name]) => name.toLowerCase() === "authorization")?.[1];
  if (token !== undefined && !(credentials === "user" && personKeysIn(token).length > 0)) {
    return say('cannot be used with an "Authorization" header that is the same for everybody: remove the header');
  }
  if (exchange) return exchangeProblem(exchange, oauth, auth.oidc.clientId);
  if (url === undefined && keys.length === 0) return undefined;
  if (!auth.oidc.clientId) return say('needs "clientId" in "auth.oidc": people confirm in the browser who they are');
  if (keys.length > 0) return undefined;
  if (oauth && oauth.grant !== "authorization_code") return say('needs people, and "grant" signs in without them');
  if (oauth === false) return say('cannot be used with "oauth": false');
  return undefined;
}

/** `page` is the client of the page at the provider. */
function exchangeProblem(exchange: ExchangeEntry, oauth: Entry["oauth"], page: string | undefined) {
  const { kind, clientId, clientSecret, resource } = exchange;
  const say = (text: string) => ({ key: "exchange", text });
  if (subjectOf(exchange) === "id-token") {
    if (!page)
      return say('starts from ID tokens: it needs "clientId" in "auth.oidc", with which people sign in to the page');
    // Values of variables are not known here. The provider checks them.
    const isKnown = ![page, clientId].some((each) => each.includes("${"));
    if (kind === "id-jag" && isKnown && clientId !== page) {
      return say(
        '"clientId" must be that of "auth.oidc": a provider exchanges an ID token only for the client that got it',
      );
    }
  }
  if (kind !== "id-jag") return undefined;
  if (resource !== undefined) return say('"id-jag" takes "resource" from the metadata of the server: remove the key');
  if (clientSecret === undefined)
    return say('"id-jag" needs "clientSecret": a provider gives assertions only to clients that prove who they are');
  if (oauth && oauth.grant === "client_credentials") return say('"id-jag" cannot be used with "grant" in "oauth"');
  if (oauth && (oauth.clientId ?? oauth.clientMetadataUrl) !== undefined) return undefined;
  return say(
    '"id-jag" needs "oauth": { "clientId": … } in the same entry, the client at the authorization server of the server',
  );
}

function keysProblem(name: string, { env, headers, auth, ...entry }: Entry): { key: string; text: string } | undefined {
  const text = `\${user:${name}}`;
  if (personKeysIn(entry).length > 0) {
    return { key: "credentials", text: `"${text}" can only be in "env", "headers" and "auth"` };
  }
  if (entry.credentials === "user") return undefined;
  return {
    key: "credentials",
    text: `"${text}" in ${env ? "env" : personKeysIn(auth).length > 0 ? "auth" : "headers"} needs "credentials": "user"`,
  };
}

const reference = /\$\{user:([A-Za-z_]\w{0,63})\}/g;

/** The names of the keys that each person enters, in `${user:NAME}`, sorted. */
export function personKeysIn(value: unknown): string[] {
  const found = JSON.stringify(value ?? null).matchAll(reference);
  return [...new Set([...found].map(([, name = ""]) => name))].sort();
}

/** The text with a person's own keys. References to missing ones stay. */
export function withPersonKeys(text: string, keys: Readonly<Record<string, string>>): string {
  return text.replace(reference, (whole, name: string) => (Object.hasOwn(keys, name) ? keys[name]! : whole));
}
