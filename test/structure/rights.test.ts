/** Every place that decides by groups, scopes, or the right of a person or a token says what guards it. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/claudikins.ts";

/** By file, what is used and how often, and what guards it. */
const uses: Record<string, Record<string, string>> = {
  "cli/serve/http.ts": {
    "tokenOf 1": "gives servers the person's token, which the provider exchanges as it decides",
  },
  "cli/doctor/people.ts": { "groups 6": "shows the name of the claim; decides nothing" },
  "config/oidc-schema.ts": { "groups 6": "the form of the settings" },
  "config/oidc.ts": {
    "groups 1": "isIn, which rights.ts alone calls",
    "groupsOfDoor 1": "the definition; rights.ts alone calls it",
    "isIn 1": "the definition; rights.ts alone calls it",
  },
  "page/people/administration.ts": {
    "groups 3": "shows the newest groups of a person, and the groups behind each right; decides nothing",
  },
  "page/people/api.ts": {
    "approvers 2": "shows who may approve",
    "isAdministrator 5": "rights that were asked for by the same request, after its body",
    "mayApprove 3": "rights that were asked for by the same request, after its body",
    "rightsOf 5": "asked with each request, and with each event of a stream",
  },
  "page/people/connect.ts": {
    "mayUse 1": "asked with each request for a link",
    "refuseRevoked 2": "asked again when keys or a sign-in come back",
  },
  "page/people/page.ts": { "refuseRevoked 1": "asked with each request and each event of a session" },
  "policy/people/claims.ts": {
    "groups 4": "the name of the claim, and the list that the token has",
    "scopesOf 2": "the scopes of the token at hand, before it counts for anything",
  },
  "policy/people/live-people.ts": {
    "groups 9":
      "what verified tokens say, for the newest groups in the store, for programs of entries those that all valid tokens have, and those of the directory, which is asked each time",
    "keepNewest 1": "only for a verified token of a person who is not revoked",
    "mayUse 2": "rights that the line asks for",
    "newestGroups 1": "whether a token is newer than what the store has",
    "refuseRevoked 1": "the definition: asks the store",
    "rightsOf 2": "the definition: asks the store each time",
    "tokenOf 1": "the newest token, which is exchanged and decides nothing here",
  },
  "policy/people/rights.ts": {
    "administrators 1": "the home of all decisions",
    "approvers 1": "the home of all decisions",
    "groups 5": "those of the token, without what the newest token has lost",
    "groupsOfDoor 2": "the home of all decisions",
    "hasLost 1": "the home of all decisions",
    "isAdministrator 1": "the home of all decisions",
    "isIn 4": "the home of all decisions",
    "mayApprove 1": "the home of all decisions",
    "mayUse 1": "the home of all decisions",
  },
  "serve/legacy/legacy-host.ts": {
    "mayApprove 3": "the sender of the answer, at the moment of the answer",
    "noteSender 2": "the token that an answer came with",
  },
  "serve/http/clients.ts": { "requireValid 1": "the definition: the token of the request" },
  "serve/http/front-door.ts": {
    "hasLost 1": "ends sessions only if the newest token has lost the door",
    "mayUse 1": "rights that were asked for with the request",
    "rightsOf 1": "asked with each request",
  },
  "serve/http/gate.ts": { "hasExpired 1": "the token of the request" },
  "serve/http/modern-requests.ts": { "requireValid 1": "the token of the request" },
  "serve/http/people-gate.ts": {
    "mayApprove 3": "a question to the store, and no answer that is kept",
    "rightsOf 1": "asked with each answer in an agent",
  },
  "serve/http/sessions.ts": { "requireValid 1": "the token of the request" },
  "serve/modern/modern-host.ts": { "mayApprove 2": "the sender of the answer, at the moment of the answer" },
  "serve/modern/open-request.ts": {
    "noteSender 1": "the token of the round that brings the answer",
    "senderOf 2": "the token of the round that brings the answer",
  },
  "serve/modern/tasks.ts": { "senderOf 1": "the token of the request that brings the answer" },
  "serve/tokens/live-tokens.ts": { "hasExpired 5": "the clock, each time it is asked" },
  "servers/connection/responder.ts": { "mayApprove 1": "asked when an answer has come" },
  "servers/pool-policy.ts": { "mayApprove 1": "asked before each question: without the right, nobody is asked" },
};

const names = [
  "administrators|approvers|groups|groupsOfDoor|hasExpired|hasLost|isAdministrator|isIn|keepNewest|mayApprove|mayUse",
  "newestGroups|noteSender|refuseRevoked|requireValid|rightsOf|scopesOf|senderOf|tokenOf",
];
const use = new RegExp(`(?<=[.\\s({,!])(${names.join("|")})(?=\\s*(?:[().,;}]|\\?\\.|=[^>]|\\s=))`, "g");

/** Files that know people or tokens. Elsewhere, the same words mean something else. */
const about =
  /\b(?:PersonClaims|PersonRefused|Live(?:Person|People|Tokens?)|Oidc(?:Entry)?|Caller|Sender|Rights|senderOf|mayApprove)\b/;

test("every decision by a right is listed with its guard", () => {
  const source = join(root, "src");
  const found: Record<string, string[]> = {};
  for (const name of readdirSync(source, { recursive: true }) as string[]) {
    const text = name.endsWith(".ts") ? readFileSync(join(source, name), "utf8") : "";
    if (!about.test(text)) continue;
    const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|^import[\s\S]*?;$/gm, "");
    const counts = Map.groupBy(code.matchAll(use), ([, used = ""]) => used);
    if (counts.size > 0)
      found[name.replaceAll("\\", "/")] = [...counts].map(([used, all]) => `${used} ${all.length}`).sort();
  }
  // Ask rights.ts for the right when it is used, and say so here.
  const listed = Object.fromEntries(Object.entries(uses).map(([file, each]) => [file, Object.keys(each).sort()]));
  expect(found).toEqual(listed);
  for (const why of Object.values(uses).flatMap((each) => Object.values(each))) expect(why.length).toBeGreaterThan(15);
});

test("only rights.ts compares groups, and nobody keeps what it has answered", () => {
  const source = join(root, "src");
  const files = (readdirSync(source, { recursive: true }) as string[]).filter((name) => name.endsWith(".ts"));
  const textOf = (name: string) => readFileSync(join(source, name), "utf8");
  const compares = /import \{[^}]*\b(?:isIn|groupsOfDoor)\b[^}]*\} from "[^"]*config\/oidc\.ts"/;
  expect(files.filter((name) => compares.test(textOf(name)))).toEqual([join("policy", "people", "rights.ts")]);
  const keeps = /(?:this\.#?\w+|#\w+) \??\??= (?:await )?[\w.#]*(?:rightsOf|new Rights)\(|readonly #?\w+: Rights\b/;
  expect(files.filter((name) => keeps.test(textOf(name)))).toEqual([]);
});
