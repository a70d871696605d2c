/** Ports for servers whose address must be known before they start. */

/** Systems take the ports of outgoing connections from 32768, so that no connection of another test gets one of these meanwhile. */
const [first, count] = [20_000, 12_000];

const given = new Set<number>();

/** A port of 127.0.0.1 at which nothing listens. Each is returned once. */
export function freePort(): number {
  for (;;) {
    const port = first + Math.floor(Math.random() * count);
    if (given.has(port) || !isFree(port)) continue;
    given.add(port);
    return port;
  }
}

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}
