/** Which authorization server is accepted, by the issuer that its metadata names. */
import { expect, test } from "bun:test";
import { discover } from "../../src/servers/auth/discovery.ts";

const server = new URL("https://mcp.shop.example/mcp");

/** Answers as a server whose authorization server is at `issuer`, and calls itself `named`. */
function answering(issuer: string, named: string) {
  return async (to: string | URL) => {
    const { pathname } = new URL(to);
    if (pathname.includes("oauth-protected-resource")) {
      return Response.json({ resource: server.href, authorization_servers: [issuer] });
    }
    return Response.json({
      issuer: named,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      response_types_supported: ["code"],
    });
  };
}

test.each([
  ["https://login.shop.example", "https://login.shop.example"],
  ["https://login.shop.example/", "https://login.shop.example"],
  ["https://login.shop.example", "https://login.shop.example/"],
  // Well-known services name a host above or below their own.
  ["https://login.shop.example", "https://shop.example"],
  ["https://shop.example", "https://login.shop.example/tenant"],
])("the authorization server %s may call itself %s", async (issuer, named) => {
  expect(await discover(server, undefined, answering(issuer, named))).toMatchObject({
    issuer,
    metadata: { issuer: named },
  });
});

test.each([
  ["https://login.shop.example", "https://login.other.example"],
  ["https://shop.example", "https://anothershop.example"],
  ["https://shop.example", "https://example"],
])("the authorization server %s may not call itself %s", async (issuer, named) => {
  const found = discover(server, undefined, answering(issuer, named));
  await expect(found).rejects.toThrow(`its authorization server at ${issuer} names a different issuer`);
});
