/** Stands in for the transit engine of Vault, which cannot run here. It answers as https://developer.hashicorp.com/vault/api-docs/secret/transit says. */

export interface Vault extends AsyncDisposable {
  port: number;
}

/** The key of the engine is called `team`. */
export function startVault(token: string): Vault {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (request.headers.get("x-vault-token") !== token)
        return Response.json({ errors: ["permission denied"] }, { status: 403 });
      const asked = (await request.json()) as { plaintext?: string; ciphertext?: string };
      const { pathname } = new URL(request.url);
      if (pathname === "/v1/transit/encrypt/team")
        return Response.json({ data: { ciphertext: `vault:v1:${changed(asked.plaintext!)}` } });
      if (pathname === "/v1/transit/decrypt/team")
        return Response.json({ data: { plaintext: changed(asked.ciphertext!.replace("vault:v1:", "")) } });
      return Response.json({ errors: ["no handler for route"] }, { status: 404 });
    },
  });
  return { port: server.port!, [Symbol.asyncDispose]: () => server.stop(true) };
}

/** No encryption: the text only has to be another one, and gives the first one when it is changed again. */
export function changed(text: string, encoding: "base64" | "base64url" = "base64"): string {
  return Buffer.from(Buffer.from(text, encoding).map((byte) => byte ^ 0x5a)).toString(encoding);
}
