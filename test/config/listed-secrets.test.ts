/** Which secrets are listed, and who uses them: servers, and every other part of a config that may name one. */
import { expect, test } from "bun:test";
import { setNamedSecret } from "../../src/config/secrets/change.ts";
import { listedSecrets } from "../../src/config/secrets/listed.ts";
import { temporaryFolder } from "../support/temporary.ts";

const secret = (name: string) => `\${secret:${name}}`;

test("a secret is listed with the servers and the other parts of both configs that name it, and without its value", async () => {
  using folder = temporaryFolder();
  const env = { HOME: folder.path, CLAUDIKINS_KEYCHAIN: "off" };
  const flag = folder.write("project/claudikins.json", {
    mcpServers: {
      shop: { command: "shop-mcp", env: { KEY: secret("SHARED"), OTHER: `\${GIVEN:-${secret("FALLBACK")}}` } },
    },
    approvals: { notify: { url: "https://example.com/", secret: secret("HOOK") } },
    auth: {
      oidc: {
        ...{ issuer: "https://login.example.com", audience: "a", clientId: "c", clientSecret: secret("PAGE") },
        address: "https://tools.example.com",
      },
    },
  });
  folder.write(".config/claudikins/claudikins.json", {
    mcpServers: { own: { url: "https://example.com/mcp", headers: { authorization: secret("SHARED") } } },
    registries: [{ url: "https://registry.example.com", headers: { authorization: secret("REGISTRY") } }],
  });
  await setNamedSecret("SHARED", "value-of-shared", { env });
  await setNamedSecret("UNUSED", "value-of-unused", { env });
  const listed = await listedSecrets({ flag, cwd: folder.path, env });
  const set = { place: "file", setAt: expect.any(Number) } as const;
  expect(listed).toEqual([
    { name: "FALLBACK", place: null, servers: ["shop"] },
    { name: "HOOK", place: null, servers: ["approvals"] },
    { name: "PAGE", place: null, servers: ["auth"] },
    { name: "REGISTRY", place: null, servers: ["registries"] },
    { name: "SHARED", ...set, servers: ["own", "shop"] },
    { name: "UNUSED", ...set, servers: [] },
  ]);
  expect(JSON.stringify(listed)).not.toContain("value-of");
});
