/** Servers with `"exchange": { "kind": "id-jag" }`: the company's provider decides who may use a server, and nobody signs in to it. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { loadConfig } from "../../src/config/load.ts";
import { PersonConnect } from "../../src/page/people/connect.ts";
import { type PersonClaims, personId } from "../../src/policy/people/claims.ts";
import type { LivePeople } from "../../src/policy/people/live-people.ts";
import { changePeople } from "../../src/serve/people/access.ts";
import { CredentialStore } from "../../src/servers/auth/credentials.ts";
import { openStore } from "../../src/store/open.ts";
import { freePort } from "../support/free-port.ts";
import { type HttpServe, httpServe } from "../support/http-serve.ts";
import { assertionPolicy, deskKey } from "../support/id-jag.ts";
import { type OidcFixture, oidcFixture } from "../support/oidc.ts";
import { type OwnAccounts, ownAccounts } from "../support/own-accounts.ts";
import { type Cookies, PersonHosts } from "../support/person-hosts.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

const port = freePort();
const origin = `http://127.0.0.1:${port}`;
let provider: OidcFixture;
let accounts: OwnAccounts;
let folder: TemporaryFolder;
let serving: HttpServe | undefined;
let env: Record<string, string>;
const hosts = new PersonHosts(origin, () => provider);

beforeAll(async () => {
  const people = { ann: { groups: ["qa-team"], email: "ann@example.com" }, bob: { groups: ["qa-team"] } };
  provider = await oidcFixture(people, [`${origin}/ui/signed-in`]);
});
afterAll(() => provider[Symbol.asyncDispose]());
beforeEach(async () => {
  folder = temporaryFolder();
  provider.assertions = assertionPolicy();
  provider.idTokenSeconds = 3_600;
  accounts = await ownAccounts(undefined, provider);
  provider.assertions.servers = [{ audience: accounts.issuer, resource: accounts.url }];
  const key = randomBytes(32).toString("base64");
  env = { XDG_DATA_HOME: join(folder.path, "data"), CLAUDIKINS_SEALING_KEY: key };
});
afterEach(async () => {
  await stop();
  await accounts[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function stop(): Promise<void> {
  serving?.signal("SIGTERM");
  expect(await serving?.exited).toBe(serving && 0);
  serving = undefined;
}

/** `exchange` and `oauth` replace keys of the entry. */
async function start(exchange: object = {}, oauth: object = {}): Promise<void> {
  folder.write("claudikins.json", {
    mcpServers: {
      desk: {
        url: accounts.url,
        credentials: "exchange",
        exchange: {
          kind: "id-jag",
          tokenUrl: `${provider.issuer}/token`,
          clientId: "page",
          clientSecret: "page-secret",
          ...exchange,
        },
        oauth: { clientId: "desk-client", clientSecret: "desk-secret", ...oauth },
      },
    },
    doors: { qa: { servers: ["desk"] } },
    auth: {
      oidc: {
        issuer: provider.issuer,
        audience: "https://tools.example.com",
        clockSkewSeconds: 0,
        doors: { qa: ["qa-team"] },
        clientId: "page",
        clientSecret: "page-secret",
      },
    },
  });
  const own = { CLAUDIKINS_LOG: "debug", CLAUDIKINS_DAEMON: "off", ...env };
  serving = await httpServe(folder, [], { token: "kept", port: String(port), env: own });
}

const signedIn = async (subject: string, cookies: Cookies = new Map()) => {
  expect((await hosts.browse(`${origin}/ui/`, cookies, subject)).status).toBe(200);
};

const link = (subject: string) => `${origin}/ui/connect/qa/desk?for=${personId(provider.issuer, subject)}`;
const who = "return (await desk.who({})).who";
const many =
  "return [...new Set((await Promise.all([...Array(8)].map(() => desk.who({})))).map((each) => each.who))].join()";

/** Everything that claudikins has written: files with credentials, and its log. */
function written(): string {
  const at = join(folder.path, "data", "claudikins");
  const files = readdirSync(at, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  const texts = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1"));
  return [...texts, serving?.stderr() ?? ""].join("\n");
}

function expectNoSecrets(...texts: string[]): void {
  const secrets = [...provider.assertions.given, ...accounts.tokens, "page-secret", "desk-secret"];
  const all = [written(), ...texts].join("\n");
  for (const secret of secrets) expect(all).not.toContain(secret);
  expect(all).not.toMatch(/eyJ[\w-]+\.eyJ/);
}

test("people who have signed in to the page use the server as themselves, with one exchange for all their calls", async () => {
  await start();
  for (const each of ["ann", "bob"]) await signedIn(each);
  await using ann = await hosts.plainHost("ann");
  await using bob = await hosts.plainHost("bob");
  const [first, second, third] = await Promise.all([ann.execute(many), bob.execute(many), ann.execute(many)]);
  expect([first, second, third]).toEqual(["ann", "bob", "ann"]);
  expect(provider.assertions.subjects.sort()).toEqual(["ann id_token", "bob id_token"]);
  // The assertion names the authorization server, the server and the scopes that the server wants.
  const [claims] = provider.assertions.given.map((each) => decodeJwt(each));
  expect(claims).toMatchObject({ aud: accounts.issuer, resource: accounts.url, scope: "use" });
  expect(accounts.assertions).toHaveLength(2);
  expect(accounts.extensions).toEqual(["io.modelcontextprotocol/enterprise-managed-authorization"]);
  expectNoSecrets();
  await stop();
  // The tokens are kept, so the people need not be at the page again.
  await start();
  await using again = await hosts.plainHost("ann");
  expect(await again.execute(who)).toBe("ann");
  expect(accounts.assertions).toHaveLength(2);
});

test("a program waits for a person who has not signed in to the page, and then continues", async () => {
  await start();
  await using ann = await hosts.host("ann");
  expect(await ann.execute(`const before = 1; const { who } = await desk.who({}); return who + before`)).toBe("ann1");
  expect(ann.asked).toEqual([expect.stringContaining(link("ann"))]);
  expect(provider.assertions.subjects).toEqual(["ann id_token"]);
  // An agent without links names the person and the link.
  await using bob = await hosts.plainHost("bob");
  const text = await bob.execute(who);
  expect(text).toContain(
    'Server "desk" cannot be used: bob has not signed in to the page, so there is no ID token to exchange',
  );
  expect(text).toContain(`bob must open ${link("bob")} in a browser and sign in, then call again.`);
  const page = await hosts.browse(link("bob"), new Map(), "bob");
  expect([page.status, page.text]).toEqual([200, expect.stringContaining("Signed in to desk")]);
  expect(await bob.execute(who)).toBe("bob");
  // The link of another person is of no use.
  expect((await hosts.browse(link("ann"), new Map(), "bob")).status).toBe(403);
});

test("a token that has expired is replaced by one for a new assertion, and not by a refresh token", async () => {
  accounts.tokenSeconds = 2;
  await start();
  await signedIn("ann");
  await using ann = await hosts.plainHost("ann");
  expect(await ann.execute(who)).toBe("ann");
  await Bun.sleep(2_100);
  // The next token must last until the many calls have ended.
  accounts.tokenSeconds = 60;
  expect(await ann.execute(many)).toBe("ann");
  expect(accounts.assertions).toHaveLength(2);
  expect(accounts.refreshes).toBe(0);
  // A token that the server does not take any more is replaced as well, once.
  accounts.forget();
  expect(await ann.execute(many)).toBe("ann");
  expect(accounts.assertions).toHaveLength(3);
});

test("a person whom the provider refuses gets no token, and learns why", async () => {
  provider.assertions.refused = new Set(["bob"]);
  await start();
  for (const each of ["ann", "bob"]) await signedIn(each);
  await using ann = await hosts.plainHost("ann");
  await using bob = await hosts.host("bob");
  const [first, text] = await Promise.all([ann.execute(who), bob.execute(who)]);
  expect(first).toBe("ann");
  expect(text).toContain(
    'Server "desk" cannot be used: the provider refused to exchange the token of bob: invalid_target: the policy does not allow this',
  );
  expect(text).toContain(`Ask the operator of ${provider.issuer} to allow this`);
  // Another sign-in would not help, so bob is not asked for one.
  expect(bob.asked).toEqual([]);
  expect(accounts.sessions).not.toContain("bob");
  expectNoSecrets(text);
  const page = await hosts.browse(link("bob"), new Map(), "bob");
  expect([page.status, page.text]).toEqual([422, expect.stringContaining("the policy does not allow this")]);
});

test("a person whose sign-in the provider does not accept any more is told to sign in again", async () => {
  provider.assertions.error = "insufficient_user_authentication";
  await start();
  await signedIn("ann");
  await using ann = await hosts.plainHost("ann");
  const text = await ann.execute(who);
  expect(text).toContain("the token of ann@example.com: insufficient_user_authentication: sign in again");
  expect(text).toContain(`ann@example.com must open ${link("ann")} in a browser and sign in, then call again.`);
  // Another sign-in is tried at once.
  provider.assertions.error = undefined;
  await signedIn("ann");
  expect(await ann.execute(who)).toBe("ann");
});

test("the link of a server signs a person in again whose sign-in to the page is not new", async () => {
  await start();
  const { servers } = await loadConfig({ cwd: folder.path, env: { HOME: folder.path, ...env }, trust: true });
  const claims = { id: "0123456789abcdef", name: "ann" } as PersonClaims;
  const connect = new PersonConnect({
    app: { env: {} },
    people: { mayUse: () => true, identityOf: () => undefined } as unknown as LivePeople,
    connects: async () => {},
    serversOf: async () => ({ servers, own: new CredentialStore(join(folder.path, "credentials.json")) }),
  });
  const open = (begunAt: number, method = "GET") => {
    const session = { claims, begunAt, idToken: "", endsAt: Number.POSITIVE_INFINITY };
    const own = { origin, "sec-fetch-site": "same-origin", "content-length": "0" };
    const request = new Request(`${origin}/ui/connect/qa/desk`, { method, headers: method === "GET" ? {} : own });
    return connect.answer(request, "connect/qa/desk", session, `${origin}/ui/`);
  };
  expect(await open(Date.now() - 61_000)).toBeUndefined();
  expect(await (await open(Date.now()))!.text()).toContain("<h1>Sign in to desk?</h1>");
  // A person who has looked at the question for long signs in again too.
  const late = await open(Date.now() - 61_000, "POST");
  expect([late!.status, late!.headers.get("location")]).toEqual([303, `${origin}/ui/connect/qa/desk`]);
  // Here nobody has an ID token.
  await expect(open(Date.now(), "POST")).rejects.toThrow("so there is no ID token to exchange");
});

test("an assertion that the authorization server does not accept is an error that names the person", async () => {
  await start();
  await signedIn("ann");
  const now = Math.floor(Date.now() / 1_000);
  const wrong: [string, Partial<OidcFixture["assertions"]>][] = [
    ['unexpected "aud" claim value', { claims: { aud: "https://other.example.com" } }],
    ['"exp" claim timestamp check failed', { claims: { iat: now - 120, exp: now - 60 } }],
    ['unexpected "typ" JWT header value', { header: { typ: "JWT" } }],
    ['unexpected "iss" claim value', { claims: { iss: "https://other.example.com" } }],
    ["the assertion is for another client", { claims: { client_id: "someone" } }],
    ["the assertion is for another server", { claims: { resource: "https://other.example.com/mcp" } }],
  ];
  const { servers } = provider.assertions;
  for (const [why, change] of wrong) {
    provider.assertions = { ...assertionPolicy(), servers, ...change };
    // A refusal counts for a while, but not after another sign-in.
    await signedIn("ann");
    await using ann = await hosts.plainHost("ann");
    const text = await ann.execute(who);
    expect(text).toContain(
      'Server "desk" cannot be used: its authorization server refused what the provider says of ann@example.com: invalid_grant',
    );
    expect(text).toContain(why);
    expect(text).toContain(`Ask the operator of ${accounts.issuer} to accept assertions of the provider`);
    expectNoSecrets(text);
  }
  expect(accounts.sessions).toEqual([]);
});

test("an assertion that was used before is not accepted again", async () => {
  accounts.tokenSeconds = 2;
  await start();
  await signedIn("ann");
  await using ann = await hosts.plainHost("ann");
  expect(await ann.execute(who)).toBe("ann");
  provider.assertions.repeats = true;
  await Bun.sleep(2_100);
  const text = await ann.execute(who);
  // The authorization server repeats what was sent to it, and that is masked.
  expect(text).toContain("invalid_grant: … was used before");
  expectNoSecrets(text);
  expect(accounts.assertions).toHaveLength(1);
});

test("nothing is sent to an authorization server that the entry does not name, or that names another server", async () => {
  await start({ audience: "https://auth.example.com" });
  await signedIn("ann");
  await using ann = await hosts.plainHost("ann");
  const text = await ann.execute(who);
  expect(text).toContain(`its authorization server is ${accounts.issuer}, and not the "audience" of its "exchange"`);
  await stop();

  accounts.resource = "https://other.example.com/mcp";
  await start({ audience: accounts.issuer });
  await signedIn("ann");
  await using again = await hosts.plainHost("ann");
  expect(await again.execute(who)).toContain("its sign-in metadata is for another server");
  expect(provider.assertions.given).toEqual([]);
});

test("an access token of the provider is not taken for an assertion", async () => {
  provider.assertions.issuedType = "urn:ietf:params:oauth:token-type:access_token";
  await start();
  await signedIn("ann");
  await using ann = await hosts.plainHost("ann");
  expect(await ann.execute(who)).toContain("the provider returned no assertion (ID-JAG) for it");
  expect(accounts.assertions).toEqual([]);
});

test("the client at the authorization server has a key or a document instead of a secret", async () => {
  const clients: [string, object][] = [
    ["desk-key", { clientId: "desk-key", privateKey: deskKey }],
    ["https://tools.example.com/client.json", { clientMetadataUrl: "https://tools.example.com/client.json" }],
  ];
  for (const [id, oauth] of clients) {
    provider.assertions.claims = { client_id: id };
    await start({}, { clientId: undefined, clientSecret: undefined, ...oauth });
    await signedIn("ann");
    await using ann = await hosts.plainHost("ann");
    expect(await ann.execute(who)).toBe("ann");
    await stop();
  }
  // The tokens of one client are not used for another.
  expect(accounts.assertions.map((each) => decodeJwt(each)["client_id"])).toEqual(clients.map(([id]) => id));
});

test("with access tokens as subjects, the tokens of agents are exchanged, and nobody needs the page", async () => {
  await start({ subject: "access-token", clientId: "exchanger", clientSecret: "exchanger-secret" });
  await using ann = await hosts.host("ann");
  expect(await ann.execute(who)).toBe("ann");
  expect(provider.assertions.subjects).toEqual(["ann access_token"]);
  expect(ann.asked).toEqual([]);
});

test("an ID token that has expired is not sent, and the person is asked to sign in", async () => {
  provider.idTokenSeconds = 2;
  await start();
  await signedIn("ann");
  await Bun.sleep(2_100);
  await using ann = await hosts.plainHost("ann");
  expect(await ann.execute(who)).toContain("ann@example.com has not signed in to the page");
  expect(provider.assertions.subjects).toEqual([]);
});

test("a person who is revoked loses the token, and gets no other", async () => {
  await start();
  const cookies: Cookies = new Map();
  await signedIn("ann", cookies);
  await using ann = await hosts.plainHost("ann");
  expect(await ann.execute(who)).toBe("ann");
  await using store = openStore(env);
  const config = join(folder.path, "claudikins.json");
  const people = await store.people.list(config);
  await changePeople(people, "revoked", env);
  await Bun.sleep(1_000);
  const { status } = await hosts.browse(link("ann"), cookies, "ann");
  expect(status).toBe(403);
  // Restored, the person has neither the token of the server nor the ID token of before.
  await changePeople([{ ...people[0]!, revokedAt: 1 }], "restored", env);
  await using again = await hosts.plainHost("ann");
  expect(await again.execute(who)).toContain("ann@example.com has not signed in to the page");
  expect(accounts.assertions).toHaveLength(1);
});
