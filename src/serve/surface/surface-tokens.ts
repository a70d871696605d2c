/** How many tokens an agent may load before any work: our two tools, and the list of the servers. */
import type { Config } from "../../config/load.ts";

/** Tokens (o200k) of the definitions of `search_tools` and `execute_code` as JSON. A test counts them. */
export const definitionTokens = 307;

/** Tokens of everything that an agent loads if there are one or two servers. */
const surfaceTokensOfFew = 450;

/** The same for more servers, to which each server adds some. */
const surfaceTokensOfMany = 600;

/** Tokens for a server whose tools agents call: the shown calls save searches. */
const tokensOfUsedServer = 25;

/** Tokens for any other server: its name. */
const tokensOfOtherServer = 5;

/** The most, unless the config allows more. */
const maxSurfaceTokens = 1_000;

/**
 * The config's limit, else one that grows with the servers. `used` is the number of servers whose tools agents have called.
 *
 * Measured with the bench's tasks, 4, 18 and 52 servers, and limits from 600 to 1,200: a search that a shown call saves costs a round trip
 * and 200 to 600 tokens, so each server in use is worth its calls. More than this saved no further round trip.
 */
export function surfaceTokensOf(
  { surfaceTokens }: Partial<Pick<Config, "surfaceTokens">>,
  servers: number,
  used: number,
): number {
  if (surfaceTokens !== undefined) return surfaceTokens;
  if (servers <= 2) return surfaceTokensOfFew;
  return Math.min(
    maxSurfaceTokens,
    surfaceTokensOfMany + tokensOfUsedServer * used + tokensOfOtherServer * (servers - used),
  );
}
