/** `claudikins tokens`: makes, lists and revokes the tokens of `serve --http`. */

import { ageText, waitText } from "../../base/duration.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { defined } from "../../base/json-object.ts";
import { about, either, list as listOf, nothing, record, text, time, type ValueOf } from "../../base/json-shape.ts";
import { sha256 } from "../../base/sha256.ts";
import { dayMs } from "../../base/units.ts";
import { readTokens, type StoredToken, tokenId, tokenPrefix } from "../../serve/tokens/token-file.ts";
import { configOwner } from "../../servers/logs/place.ts";
import { command, flag, option, place, several } from "../command.ts";
import { configArgs, openConfig } from "../flags/config-flags.ts";
import { futureTime } from "../flags/flags.ts";
import { chosenOwner, configField, listAnswer, ofChosen, thingCalled } from "../output/nouns.ts";

/** Characters of the name of a token. */
const maxTokenNameChars = 64;

/** Time until a token of `tokens add` expires, if no flag says otherwise. */
const defaultTokenMs = 90 * dayMs;

const tokenKeys = {
  id: text,
  "name?": text,
  "door?": about("The only door that the token opens. Missing: it opens every address of the config", text),
  config: about("The config file; null for the demo", either(text, nothing)),
  createdAt: time,
  "expiresAt?": about("Missing: it never expires", time),
  "lastUsedAt?": about("Written at most once a minute", time),
};
const tokenShape = record(tokenKeys);

export const add = command({
  description:
    "Make a token for `claudikins serve --http`. It is printed once, on stdout, and only its digest is stored. Running servers accept it at once.",
  args: {
    door: option("Let the token open only the address of this door (default: every address of the config)", {
      valueHint: "name",
      complete: "door",
    }),
    name: option("A name that tells you later who has the token", { valueHint: "name", parse: nameOf }),
    expires: option("When the token expires: 12h, 30d or never (default 90d)", futureTime),
    ...configArgs,
  },
  examples: [
    "claudikins tokens add --door qa --name ci",
    "claudikins tokens add --expires 30d",
    "claudikins tokens add --name laptop --expires never --json",
  ],
  json: record({ ...tokenKeys, token: about("Shown only here", text) }),
  async run(args, io) {
    const { door, name, expires = defaultTokenMs } = args;
    const config = await openConfig(args, io);
    const { issueToken } = await import("../../serve/tokens/manage.ts");
    const { token, stored } = await issueToken(
      {
        name,
        door,
        config: configOwner(config.origin),
        lifeMs: expires === "never" ? undefined : expires,
      },
      io.env,
    );
    const opens = door === undefined ? "every address of the config" : `only /${door}`;
    const until = expires === "never" ? "never expires" : `expires in ${waitText(expires)}`;
    return {
      json: { ...jsonOf(stored), token },
      text: `${token}\n`,
      note: `The token ${labelOf(stored)} opens ${opens} and ${until}. It is shown only once.\nTo revoke it: claudikins tokens revoke ${tokenId(stored)}\n`,
    };
  },
});

export const list = command({
  description:
    "List the tokens of this config, oldest first. The tokens themselves are not stored, so they are not shown.",
  args: {
    all: flag("List the tokens of all configs"),
    config: configArgs.config,
  },
  examples: ["claudikins tokens", "claudikins tokens list --all"],
  json: record({ tokens: listOf(tokenShape) }),
  async run(args, io) {
    const all = readTokens(io.env);
    const tokens = ofChosen(all, args, io);
    const others = all.length - tokens.length;
    const elsewhere = others === 0 ? "" : `note: ${others} more with other configs: claudikins tokens list --all\n`;
    const now = Date.now();
    return listAnswer(
      io,
      {
        json: { tokens: tokens.map(jsonOf) },
        rows: tokens,
        none: `There are no tokens${args.all ? "" : " of this config"}. To make one: claudikins tokens add\n${elsewhere}`,
        note: elsewhere,
      },
      [
        ["id", tokenId],
        ["name", ({ name = "" }) => name],
        ["opens", ({ door }) => (door === undefined ? "everything" : `/${door}`)],
        ["created", ({ createdAt }) => ageText(now - createdAt)],
        ["expires", (each) => expiryText(each, now)],
        ["last used", ({ lastUsedAt }) => (lastUsedAt === undefined ? "never" : ageText(now - lastUsedAt))],
        configField(args.all),
      ],
    );
  },
});

export const revoke = command({
  description:
    "Revoke tokens. What their clients have begun ends: within a second in running servers, and at once if it waits or runs in the background.",
  args: {
    tokens: place("Ids, or names of this config's tokens", { required: true, complete: "token", ...several }),
    config: configArgs.config,
  },
  examples: ["claudikins tokens revoke ci", "claudikins tokens revoke ci laptop"],
  json: record({ revoked: listOf(tokenShape) }),
  async run(args, io) {
    const all = readTokens(io.env);
    const chosen = new Set(args.tokens.map((word) => tokenCalled(word, all, () => chosenOwner(args.config, io))));
    const { revokeTokens } = await import("../../serve/tokens/manage.ts");
    const revoked = await revokeTokens([...chosen], io.env);
    return {
      json: { revoked: revoked.map(jsonOf) },
      text: revoked.map((each) => `Revoked ${labelOf(each)}\n`).join(""),
    };
  },
});

/** The token with this id, or else the one of this config with this name. Throws TOKEN_NOT_FOUND, and USAGE if several have the name. */
function tokenCalled(word: string, all: readonly StoredToken[], owner: () => string | null): StoredToken {
  const found = thingCalled<StoredToken>(word, all, {
    kind: "tokens",
    idOf: tokenId,
    isNamed: ({ name, config }) => name === word && config === owner(),
  });
  if (found) return found;
  const same = all.find(({ hash }) => hash === sha256(word));
  // The error must not show the token.
  if (same)
    throw new ClaudikinsError("USAGE", "Give the id of the token, not the token", {
      hint: `Its id is ${tokenId(same)}`,
    });
  const shown = looksLikeToken(word) ? "" : ` "${word}"`;
  throw new ClaudikinsError("TOKEN_NOT_FOUND", `There is no token${shown} of this config`, {
    hint: "To list all tokens: claudikins tokens list --all",
  });
}

function looksLikeToken(word: string): boolean {
  return word.startsWith(tokenPrefix);
}

/** Throws USAGE. */
function nameOf(name: string, given: string): string {
  const isName = /^[\w.-]+$/.test(name) && name.length <= maxTokenNameChars;
  if (isName && !looksLikeToken(name) && !/^[0-9a-f]{8}$/.test(name)) return name;
  throw new ClaudikinsError(
    "USAGE",
    `${given} takes at most ${maxTokenNameChars} letters, digits, dots, dashes and underscores, and nothing that looks like an id or a token`,
  );
}

function jsonOf(stored: StoredToken): ValueOf<typeof tokenShape> {
  const { name, door, config, createdAt, expiresAt, lastUsedAt } = stored;
  return { id: tokenId(stored), config, createdAt, ...defined({ name, door, expiresAt, lastUsedAt }) };
}

/** `1f0c52b9 (ci)`. */
function labelOf(stored: StoredToken): string {
  return stored.name === undefined ? tokenId(stored) : `${tokenId(stored)} (${stored.name})`;
}

function expiryText({ expiresAt }: StoredToken, now: number): string {
  if (expiresAt === undefined) return "never";
  return expiresAt <= now ? `expired ${ageText(now - expiresAt)}` : `in ${waitText(expiresAt - now)}`;
}
