/** Finds the variable whose absence explains why a server did not start. */
import type { ServerConfig } from "../config/load.ts";

/** What programs say when they do not trust a certificate. */
const untrusted =
  /SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERTIFICATE_VERIFY_FAILED|self[- ]signed certificate|unable to get local issuer certificate/i;

/** What programs say when they cannot open a window. */
const noDisplay = /cannot open display|Missing X server|\$DISPLAY|no DISPLAY environment|without having a XServer/i;

/** A line about a missing variable names it in capitals. */
const missing =
  /\b(?:missing|required|requires?|not set|unset|undefined|not defined|not found|must be|needs?|provide|set)\b/i;
const variable = /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g;

/** `lines` are the last ones of the server's output. `has` says whether a variable is set here. Undefined if no variable explains them. */
export function missingVariableHint(
  lines: readonly string[],
  { name, ...server }: ServerConfig,
  has: (variable: string) => boolean,
): string | undefined {
  if (server.url !== undefined) return undefined;
  const text = lines.join("\n");
  if (untrusted.test(text)) {
    const certificates = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"].filter((each) => !has(each));
    if (certificates.length === 0) return undefined;
    return `It does not trust a certificate. If your network has a certificate of its own, set ${certificates.join(" or ")} to its file before starting claudikins.`;
  }
  if (noDisplay.test(text) && !has("DISPLAY")) {
    return "It opens a window, and DISPLAY is not set where claudikins was started. Start it without a window, or set DISPLAY.";
  }
  const names = lines.flatMap((line) => (missing.test(line) ? (line.match(variable) ?? []) : []));
  const found = [...new Set(names)].find((each) => server.env[each] === undefined);
  if (found === undefined) return undefined;
  return has(found)
    ? `${found} is set, but "${name}" does not get it. Add "inherit": ["${found}"] to its entry in the config.`
    : `It asks for ${found}. Set it in "env" of "${name}" in the config, or set it before starting claudikins and add "inherit": ["${found}"].`;
}
