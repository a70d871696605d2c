/** The programs of entries know for which person of a team they run, so that they can print a token of the person. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { freePort } from "../support/free-port.ts";
import { executeRequest, type HttpServe, httpServe, rawSession, resultText } from "../support/http-serve.ts";
import { type NetworkFixture, networkFixture } from "../support/network.ts";
import { type OidcFixture, oidcFixture } from "../support/oidc.ts";
import { bearer } from "../support/person-hosts.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

/** The person that the environment of the process names. */
const processPerson = "root";

const port = freePort();
let provider: OidcFixture;
let server: NetworkFixture;
let folder: TemporaryFolder;
let serving: HttpServe | undefined;

beforeAll(async () => {
  provider = await oidcFixture({ ann: { groups: ["qa-team", "a,b"] }, bob: { groups: ["qa-team"] } });
});
afterAll(() => provider[Symbol.asyncDispose]());
beforeEach(async () => {
  folder = temporaryFolder();
  server = await networkFixture("http");
});
afterEach(async () => {
  serving?.signal("SIGTERM");
  expect(await serving?.exited).toBe(0);
  serving = undefined;
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function start(entry: object): Promise<void> {
  folder.write("claudikins.json", {
    mcpServers: { far: { url: `http://127.0.0.1:${server.port}/mcp`, type: "http", ...entry } },
    doors: { qa: { servers: ["far"] } },
    auth: {
      oidc: { issuer: provider.issuer, audience: "https://tools.example.com", doors: { qa: ["qa-team"] } },
    },
  });
  const env = { CLAUDIKINS_DAEMON: "off", CLAUDIKINS_PERSON: processPerson, XDG_DATA_HOME: join(folder.path, "data") };
  serving = await httpServe(folder, [], { token: "kept", port: String(port), env });
}

/** The tokens of the person that the server has got during one call, without those of others. */
async function tokensOf(subject: string): Promise<string[]> {
  const before = server.lines.length;
  const headers = bearer(await provider.token(subject));
  const session = await rawSession(`http://127.0.0.1:${port}/qa`, "2025-11-25", {}, subject, headers);
  const answer = await session.post(executeRequest(2, "return (await far.echo({ a: 1 })).a"));
  expect(await resultText(answer)).toBe("1");
  const sent = server.lines.slice(before).flatMap((line) => /^POST Bearer (.+)$/.exec(line)?.[1] ?? []);
  // The process lists the tools for nobody, at any time.
  return [...new Set(sent)].filter((token) => token !== processPerson);
}

const print = 'printf \'%s %s\' "$CLAUDIKINS_PERSON" "$(printf %s "$CLAUDIKINS_GROUPS" | tr \'"\' \'~\')"';

test.each([
  ["a headersHelper", { headersHelper: `printf '{"Authorization":"Bearer %s"}' "$(${print})"` }],
  ["a command in a header", { headers: { Authorization: "Bearer ${command:sh ./print.sh}" } }],
])("%s gets the person and the groups, and each person has connections of the person's own", async (_, entry) => {
  folder.write("print.sh", `${print}\n`);
  await start(entry);
  expect(await tokensOf("ann")).toEqual(["ann [~qa-team~,~a,b~]"]);
  expect(await tokensOf("bob")).toEqual(["bob [~qa-team~]"]);
  expect(await tokensOf("ann")).toEqual(["ann [~qa-team~,~a,b~]"]);
});

test("a person who has other groups gets other headers, for the groups that all valid tokens have", async () => {
  await start({ headersHelper: `printf '{"Authorization":"Bearer %s"}' "$(${print})"` });
  expect(await tokensOf("ann")).toEqual(["ann [~qa-team~,~a,b~]"]);
  const { groups } = provider.accounts["ann"]!;
  provider.accounts["ann"]!.groups = ["qa-team", "leads"];
  expect(await tokensOf("ann")).toEqual(["ann [~qa-team~]"]);
  provider.accounts["ann"]!.groups = groups!;
});
