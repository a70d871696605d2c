/** Checks the URL of a page that a server asks a person to open. */

export type PageAddress = { href: string; host: string; problem?: undefined } | { problem: string; href?: undefined };

/** `href` is the URL as browsers parse it, so that the agent shows the address that it opens. */
export function pageAddress(text: unknown): PageAddress {
  if (typeof text !== "string" || !/^https?:/i.test(text)) {
    return { problem: "only http and https addresses are passed on" };
  }
  // Browsers drop some of these characters, and take others for a slash.
  if (/[\s\\\p{Cc}\p{Cf}\p{Z}]/u.test(text)) return { problem: "the address has characters that hide where it leads" };
  const [, authority] = /^https?:\/\/([^/?#]+)/i.exec(text) ?? [];
  if (authority === undefined || !URL.canParse(text)) return { problem: "the address is invalid" };
  if (/[@%]/.test(authority)) {
    return { problem: 'the address has "@" or "%" in its host part, which hides where it leads' };
  }
  const { href, host } = new URL(text);
  return { href, host };
}

/** A note if the host name has letters that may look like others, such as `xn--pple-43d.com`. Empty for other hosts. */
export function lookAlikeNote(host: string): string {
  const isInternational = host.split(".").some((label) => label.startsWith("xn--"));
  return isInternational ? ` (the page is at ${host}, an international name that may look like another one)` : "";
}
