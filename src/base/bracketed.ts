/** A host as it stands in a URL: an address of IPv6 has brackets there. */
export function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
