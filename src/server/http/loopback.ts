/** Addresses that only programs of this machine can reach. */

/** Also for names and addresses without their brackets. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}
