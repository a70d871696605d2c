/** Recognises addresses that only programs on this machine can reach. */

/** Whether a host name or IP address, with or without the brackets of a URL, is this machine. */
export function isLoopback(host: string): boolean {
  return ["localhost", "::1", "[::1]"].includes(host) || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Whether a connection cannot be read on its way. Addresses of this machine need no encryption. */
export function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}
