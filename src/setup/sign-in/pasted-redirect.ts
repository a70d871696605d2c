/** Reads the address that the user copied from the browser after a sign-in. */

/** The redirect, or the problem with a hint for the user. */
export type PastedRedirect = { redirect: URL } | { problem: string };

/** `back` is the redirect address, `to` the address where the user signs in. */
export function redirectIn(text: string, { back, to }: { back: URL; to: URL }): PastedRedirect {
  const pasted = text.replace(/^[\s"'`<“‘«]+|[\s"'`>”’»]+$/g, "");
  const problem = (what: string): PastedRedirect => ({
    problem: `${what} Paste the full address that the browser shows after the sign-in; it starts with ${back.href}`,
  });
  const address = addressIn(pasted, back);
  if (!address) {
    return /^[^\s:]{8,}$/.test(pasted)
      ? problem('A code alone is not enough: the "state" next to it ties it to this sign-in.')
      : problem("That is not an address.");
  }
  if (!isSame(address, back)) {
    const isBeginning = address.host === to.host && address.pathname === to.pathname;
    return problem(isBeginning ? "That is the address where the sign-in starts." : "That is a different address.");
  }
  const missing = !address.searchParams.has("code") && !address.searchParams.has("error") ? "code" : "state";
  if (missing === "code" || !address.searchParams.has("state")) {
    return problem(`It has no "${missing}": perhaps only part of it was copied.`);
  }
  return { redirect: new URL(address.search, back) };
}

/** Accepts an address without a scheme, and query parameters alone. */
function addressIn(pasted: string, back: URL): URL | undefined {
  const isParameters = /^\??(?:[\w.-]+=[^&]*&)*(?:code|error|state)=/.test(pasted);
  const address = isParameters
    ? `${back.href}?${pasted.replace(/^\?/, "")}`
    : /^(?:127\.0\.0\.1|localhost):/.test(pasted)
      ? `http://${pasted}`
      : pasted;
  return /^https?:\/\/\S+$/i.test(address) && URL.canParse(address) ? new URL(address) : undefined;
}

/** Browsers may show `localhost` for 127.0.0.1. */
const isSame = (address: URL, back: URL) =>
  address.pathname === back.pathname &&
  address.port === back.port &&
  [back.hostname, "localhost"].includes(address.hostname);
