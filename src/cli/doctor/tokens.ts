/** Doctor check of the tokens of `serve --http` that belong to the config. */

import { ageText, waitText } from "../../base/duration.ts";
import { dayMs } from "../../base/units.ts";
import { documentsOf } from "../../config/documents.ts";
import { readTokens, type StoredToken, tokenId } from "../../serve/tokens/token-file.ts";
import { configOwner } from "../../servers/logs/place.ts";
import { type CheckContext, type CheckParts, type Finding, findingsOf } from "./finding.ts";

/** A token of `serve --http` that expires sooner is reported. */
const tokenEndsSoonMs = 7 * dayMs;

const { ok, warning, failure } = findingsOf("config");

export function tokenFindings({ config }: CheckParts, { env }: CheckContext): Finding[] {
  // A database that cannot be reached is another finding.
  if (!documentsOf(env).areKnown) return [];
  let all: StoredToken[];
  try {
    all = readTokens(env);
  } catch (error) {
    return [failure("config.tokens", error)];
  }
  const tokens = all.filter((each) => each.config === configOwner(config.origin));
  const found = tokens.flatMap((each) => faultOf(each, config.doors));
  if (tokens.length === 0 || found.length > 0) return found;
  return [ok("config.tokens", `Tokens of serve --http: ${tokens.length}, all valid`)];
}

function faultOf(token: StoredToken, doors: readonly string[]): Finding[] {
  const { name, door, expiresAt = Number.POSITIVE_INFINITY } = token;
  const id = tokenId(token);
  const find = (text: string, repair: string) => [
    warning(`config.tokens.${id}`, `The token ${name === undefined ? id : `${id} (${name})`} ${text}`, repair),
  ];
  const left = expiresAt - Date.now();
  const revoke = `claudikins tokens revoke ${id}`;
  if (left <= 0) return find(`of serve --http expired ${ageText(-left)}`, revoke);
  if (door !== undefined && !doors.includes(door)) {
    return find(`opens the door "${door}", which the config does not have any more`, revoke);
  }
  if (left > tokenEndsSoonMs) return [];
  const flags = door === undefined ? "" : ` --door ${door}`;
  const renew = `Make another one with "claudikins tokens add${flags}", give it to the agent, and then: ${revoke}`;
  return find(`of serve --http expires in ${waitText(left)}`, renew);
}
