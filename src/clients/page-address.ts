/** The address of a page that a server wants a person to open: as it really is, or why nobody should open it. */

export type PageAddress = { href: string; host: string; problem?: undefined } | { problem: string; href?: undefined };

/** `href` is what a browser would make of the text, so that a host shows the same address that it opens. */
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

/** Said of a host whose name has letters that may look like others: `xn--pple-43d.com`. Empty for any other. */
export function lookAlikeNote(host: string): string {
  const isInternational = host.split(".").some((label) => label.startsWith("xn--"));
  return isInternational ? ` (the page is at ${host}, an international name that may look like another one)` : "";
}
