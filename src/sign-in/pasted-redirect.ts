/** The address that a person copied out of the browser, as people paste it. */

/** The address as if the browser had come with it, or what is wrong and what to do instead, for the person. */
export type Pasted = { redirect: URL } | { problem: string };

/** `back` is where the browser was to be sent, `to` where the person went to sign in. */
export function readPasted(text: string, { back, to }: { back: URL; to: URL }): Pasted {
  const pasted = text.replace(/^[\s"'`<“‘«]+|[\s"'`>”’»]+$/g, "");
  const problem = (what: string): Pasted => ({
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

/** Also without the scheme, and when only what stands behind the path was copied. */
function addressIn(pasted: string, back: URL): URL | undefined {
  const isParameters = /^\??(?:[\w.-]+=[^&]*&)*(?:code|error|state)=/.test(pasted);
  const address = isParameters
    ? `${back.href}?${pasted.replace(/^\?/, "")}`
    : /^(?:127\.0\.0\.1|localhost):/.test(pasted)
      ? `http://${pasted}`
      : pasted;
  return /^https?:\/\/\S+$/i.test(address) && URL.canParse(address) ? new URL(address) : undefined;
}

/** Some browsers show the one name for the other. */
const isSame = (address: URL, back: URL) =>
  address.pathname === back.pathname &&
  address.port === back.port &&
  [back.hostname, "localhost"].includes(address.hostname);
