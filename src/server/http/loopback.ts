/** Loopback addresses. */

/** Accepts names, and IPv6 addresses with or without brackets. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}
