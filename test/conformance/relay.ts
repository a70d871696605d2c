/** Lets a program use `serve --http` as a person who has signed in: adds the person's token to its requests. */

export interface Relay extends AsyncDisposable {
  url: string;
}

export function relay(to: string, token: string): Relay {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch({ method, headers, body, signal, url }) {
      const { pathname, search } = new URL(url);
      const more = new Headers(headers);
      more.set("authorization", `Bearer ${token}`);
      return fetch(new URL(`${pathname}${search}`, to), { method, headers: more, body, signal, redirect: "manual" });
    },
  });
  const { pathname } = new URL(to);
  return {
    url: `http://127.0.0.1:${server.port}${pathname}`,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}
