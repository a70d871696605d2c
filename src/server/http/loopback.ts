/** Addresses that only programs of this machine can reach. */
import { isIP } from "node:net";

/** Also for names and addresses without their brackets. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
