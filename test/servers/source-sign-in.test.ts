/** Sign-ins to web APIs with OAuth, as their documents describe them. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { silentLog } from "../../src/base/log.ts";
import type { NetworkServer } from "../../src/config/load.ts";
import { CredentialStore } from "../../src/servers/auth/credentials.ts";
import { beginSignIn } from "../../src/servers/auth/sign-in.ts";
import { Pool } from "../../src/servers/pool.ts";
import { PetsApi } from "../fixtures/pets-api.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { serverOf } from "./auth-harness.ts";

function scene(api: PetsApi, oauth: NetworkServer["oauth"]) {
  const folder = temporaryFolder();
  const env = { CLAUDIKINS_KEYCHAIN: "off", XDG_DATA_HOME: folder.path };
  const file = join(folder.path, "credentials.json");
  const server = serverOf("pets", { url: api.document, openapi: api.document, transport: "openapi", oauth });
  const pool = new Pool(new Map([["pets", server]]), { env, cwd: folder.path, log: silentLog, credentialsFile: file });
  return {
    ...{ server, pool, env, store: new CredentialStore(file) },
    async [Symbol.asyncDispose]() {
      await pool[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

test("a call without a sign-in says how to sign in, and works after it", async () => {
  using api = new PetsApi("oauth");
  await using given = scene(api, { clientId: "client-1", grant: "authorization_code" });
  const { pool, server, store, env } = given;
  await expect(pool.callTool("pets", "get_pet", { id: 1 })).rejects.toMatchObject({
    code: "AUTH_REQUIRED",
    hint: expect.stringContaining("claudikins auth login pets"),
  });
  const redirectUrl = new URL("http://127.0.0.1:9/callback");
  const { signal } = new AbortController();
  const begun = await beginSignIn(server, store, { env, redirectUrl, signal });
  const page = begun!.authorizationUrl;
  expect([page.origin + page.pathname, page.searchParams.get("scope")]).toEqual([`${api.url}/authorize`, "pets:read"]);
  await begun!.finish(api.agree(page));
  expect(api.grants).toEqual(["authorization_code"]);
  expect((await pool.callTool("pets", "get_pet", { id: 1 }))["structuredContent"]).toEqual({ id: 1, name: "Pet 1" });
});

test("client credentials need no person", async () => {
  using api = new PetsApi("oauth");
  await using given = scene(api, { clientId: "c", clientSecret: "s3cret-value", grant: "client_credentials" });
  expect((await given.pool.callTool("pets", "get_pet", { id: 2 }))["structuredContent"]).toEqual({
    id: 2,
    name: "Pet 2",
  });
  expect(api.grants).toEqual(["client_credentials pets:read"]);
});

test("without OAuth in the document, the error says where the credentials go", async () => {
  using api = new PetsApi("key");
  await using given = scene(api, undefined);
  const redirectUrl = new URL("http://127.0.0.1:9/callback");
  const { signal } = new AbortController();
  await expect(beginSignIn(given.server, given.store, { env: given.env, redirectUrl, signal })).rejects.toThrow(
    "its document describes no sign-in",
  );
});
