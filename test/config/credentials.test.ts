/** `credentials` and `exchange` of servers: what is accepted, and what the errors say. */
import { expect, test } from "bun:test";
import { loadConfig } from "../../src/config/load.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { withoutMistakes } from "../support/config-mistakes.ts";
import { temporaryFolder } from "../support/temporary.ts";

const oidc = { issuer: "https://login.example.com", audience: "a", clientId: "page" };
const exchange = { tokenUrl: "https://login.example.com/token", audience: "orders", clientId: "c" };

function problemOf(entry: object, auth: object | null = { oidc }): string {
  try {
    const url = "command" in entry ? {} : { url: "https://a.example.com/mcp" };
    withoutMistakes(
      parseConfig(JSON.stringify({ mcpServers: { a: { ...url, ...entry } }, ...(auth ? { auth } : {}) }), "c.json"),
    );
    return "";
  } catch (error) {
    return (error as Error).message
      .split("\n")
      .slice(1)
      .join("\n")
      .replace(/^ *c\.json:\d+:\d+ +/gm, "");
  }
}

test("entries with the credentials of people need people, and nothing that is the same for everybody", () => {
  const user = { credentials: "user" };
  const exchanged = { credentials: "exchange", exchange };
  for (const fine of [{}, { credentials: "shared" }, user, exchanged, { command: "x", ...user }]) {
    expect(problemOf(fine)).toBe("");
  }
  const cases: [object, object | null, string][] = [
    [user, null, 'mcpServers.a.credentials: "user" needs people who sign in: add "auth": { "oidc": … } to the config'],
    [user, { oidc: { ...oidc, clientId: undefined } }, '"user" needs "clientId" in "auth.oidc"'],
    [
      { credentials: "exchange" },
      { oidc },
      '"exchange" needs "exchange": { "tokenUrl": …, "clientId": … } in the same entry',
    ],
    [{ exchange }, { oidc }, 'mcpServers.a.exchange: needs "credentials": "exchange" in the same entry'],
    [{ command: "x", ...exchanged }, { oidc }, '"exchange" needs a server on the network'],
    [{ ...user, headersHelper: "x" }, { oidc }, '"user" cannot be used with "headersHelper"'],
    [{ ...user, headers: { authorization: "Bearer x" } }, { oidc }, 'cannot be used with an "Authorization" header'],
    [{ ...user, oauth: false }, { oidc }, '"user" cannot be used with "oauth": false'],
    [
      { ...user, oauth: { grant: "client_credentials", clientId: "c", clientSecret: "s" } },
      { oidc },
      '"user" needs people, and "grant" signs in without them',
    ],
    [
      { headers: { Authorization: "Bearer ${user:K}" } },
      { oidc },
      '"${user:K}" in headers needs "credentials": "user"',
    ],
    [
      { ...user, url: "https://a.example.com/${user:K}" },
      { oidc },
      '"${user:K}" can only be in "env", "headers" and "auth"',
    ],
    [
      { command: "x", args: ["${user:K}"], ...user },
      { oidc },
      '"${user:K}" can only be in "env", "headers" and "auth"',
    ],
    [{ command: "x", env: { K: "${user:K}" }, ...user }, { oidc: { ...oidc, clientId: undefined } }, '"clientId"'],
    [{ credentials: "users" }, { oidc }, "mcpServers.a.credentials: "],
    [
      { credentials: "exchange", exchange: { ...exchange, tokenUrl: "http://login.example.com/token" } },
      { oidc },
      "https://",
    ],
    [
      { credentials: "exchange", exchange: { ...exchange, audience: undefined } },
      { oidc },
      'needs "audience" or "resource"',
    ],
    [
      { credentials: "exchange", exchange: { ...exchange, audiance: "x" } },
      { oidc },
      'unknown key, did you mean "audience"?',
    ],
    [
      { credentials: "exchange", exchange: { ...exchange, secret: "x" } },
      { oidc },
      "unknown key: expected one of kind, subject, tokenUrl",
    ],
  ];
  for (const [entry, auth, problem] of cases) expect(problemOf(entry, auth)).toContain(problem);
  const wrong = { ...exchanged, exchange: { ...exchange, clientSecret: 7_654_321 } };
  expect(problemOf(wrong)).not.toContain("7654321");
  expect(problemOf({}, { oidc, sealingKey: 7_654_321 })).not.toContain("7654321");
});

test("an exchange starts from tokens that its client can have, and an assertion has a client at both servers", () => {
  const jag = { kind: "id-jag", tokenUrl: exchange.tokenUrl, clientId: "page", clientSecret: "s" };
  const oauth = { clientId: "desk" };
  const problem = (change: object, { auth = oidc, ...entry }: { auth?: object; oauth?: object | false } = { oauth }) =>
    problemOf({ credentials: "exchange", exchange: { ...jag, ...change }, ...entry }, { oidc: auth });
  for (const fine of [
    {},
    { audience: "https://auth.example.com" },
    { scopes: ["use"] },
    { clientId: "${CLIENT}" },
    { subject: "access-token", clientId: "exchanger" },
    { kind: "token", subject: "id-token", audience: "orders", clientId: "other", clientSecret: undefined },
  ]) {
    expect(problem(fine)).toBe("");
  }
  expect(problem({}, { oauth: { clientMetadataUrl: "https://tools.example.com/client.json" } })).toBe("");
  const cases: [string, string][] = [
    [problem({ clientId: "other" }), '"clientId" must be that of "auth.oidc"'],
    [problem({}, { oauth, auth: { ...oidc, clientId: undefined } }), 'it needs "clientId" in "auth.oidc"'],
    [problem({ resource: "https://a.example.com" }), 'takes "resource" from the metadata of the server'],
    [problem({ clientSecret: undefined }), '"id-jag" needs "clientSecret"'],
    [problem({}, {}), '"id-jag" needs "oauth": { "clientId": … }'],
    [problem({}, { oauth: false }), '"id-jag" needs "oauth": { "clientId": … }'],
    [
      problem({}, { oauth: { ...oauth, clientSecret: "s", grant: "client_credentials" } }),
      '"id-jag" cannot be used with "grant" in "oauth"',
    ],
    [problem({ kind: "jag" }), "mcpServers.a.exchange.kind: "],
    [problem({ subject: "refresh-token" }), "mcpServers.a.exchange.subject: "],
  ];
  for (const [text, expected] of cases) expect(text).toContain(expected);
});

test("a missing key of the seal is named by the servers that need it, and by no other", async () => {
  using folder = temporaryFolder();
  const load = async (auth: object = {}, env: Record<string, string> = {}) => {
    folder.write("claudikins.json", {
      mcpServers: {
        own: { url: "https://a.example.com/mcp", credentials: "user" },
        common: { url: "https://b.example.com/mcp" },
      },
      auth: { oidc, ...auth },
    });
    const { servers, sealing } = await loadConfig({ cwd: folder.path, env: { HOME: folder.path, CI: "true", ...env } });
    return { needs: [...servers.values()].slice(0, 2).map((each) => each.needs), sealing };
  };
  expect((await load()).needs).toEqual([["CLAUDIKINS_SEALING_KEY"], []]);
  expect(await load({}, { CLAUDIKINS_SEALING_KEY: "k" })).toMatchObject({ needs: [[], []], sealing: { keys: ["k"] } });
  expect(await load({ sealingKey: ["${NEW}", "${OLD}"] }, { NEW: "n" })).toMatchObject({ needs: [["OLD"], []] });
  const { needs, sealing } = await load({ sealingKeyFile: "keys" });
  expect([needs, sealing?.keys, sealing?.file]).toEqual([[[], []], [], `${folder.path}/keys`]);
});

test("a person has a registry of the person's own only if a server needs it", async () => {
  using folder = temporaryFolder();
  const person = { id: "0123456789abcdef", name: "ann" };
  const load = async (credentials: string) => {
    folder.write("claudikins.json", {
      mcpServers: { a: { url: "https://a.example.com/mcp", credentials } },
      auth: { oidc },
    });
    const options = { cwd: folder.path, env: { HOME: folder.path, CI: "true" } };
    const [everybody, own] = [await loadConfig(options), await loadConfig({ ...options, person })];
    return own.folders.registry.replace(everybody.folders.registry, "");
  };
  expect(await load("shared")).toBe("");
  expect(await load("user")).toBe(`-people/${person.id}`);
});
