/** A balancer without affinity: it sends each request to any of several servers that it reaches. */

export interface Balancer extends AsyncDisposable {
  /** Its address, with the path. */
  url: string;
  /** How many requests each server has got, in the order of `targets`. */
  sent: number[];
}

/**
 * `targets` are the addresses of the servers; more may be added later. `choose` returns the index of one; by default a random one. With a
 * certificate, it answers with https.
 */
export function balancer(
  targets: string[],
  choose = () => Math.floor(Math.random() * targets.length),
  tls?: { key: string; cert: string },
): Balancer {
  const sent = targets.map(() => 0);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    ...(tls ? { tls } : {}),
    idleTimeout: 120,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const body = request.method === "POST" ? await request.bytes() : null;
      const first = choose();
      for (let tried = 0; ; tried++) {
        const index = (first + tried) % targets.length;
        try {
          const { method, headers, signal } = request;
          const to = new URL(`${pathname}${search}`, targets[index]);
          const options = { method, headers, body, signal, redirect: "manual", keepalive: false, decompress: false };
          const answer = await fetch(to, options as RequestInit);
          sent[index] = (sent[index] ?? 0) + 1;
          return new Response(answer.body, answer);
        } catch (error) {
          // Another server gets what this one surely has not got.
          if (Object(error).code !== "ECONNREFUSED" || tried === targets.length - 1) throw error;
        }
      }
    },
    error: () => new Response(null, { status: 502 }),
  });
  return {
    url: new URL("/mcp", server.url).href,
    sent,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
