/** A company's directory tells `serve --http` over SCIM who its people are, with the requests that Entra ID, Okta and others send. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { openStore } from "../../src/store/open.ts";
import { auditLines } from "../support/audit.ts";
import { eventually } from "../support/eventually.ts";
import { executeRequest, type HttpServe, httpServe, initialize, json, rawSession } from "../support/http-serve.ts";
import { type OidcFixture, oidcFixture } from "../support/oidc.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

const user = "urn:ietf:params:scim:schemas:core:2.0:User";
const group = "urn:ietf:params:scim:schemas:core:2.0:Group";
const enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const patchOp = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
const token = "a-directory-token-of-tests";

let provider: OidcFixture;
let folder: TemporaryFolder;
let serving: HttpServe | undefined;
let env: Record<string, string>;

beforeAll(async () => {
  provider = await oidcFixture({ ann: { groups: ["qa-team"] }, bob: { groups: ["qa-team"] } });
});
afterAll(() => provider[Symbol.asyncDispose]());
beforeEach(() => {
  folder = temporaryFolder();
  env = { XDG_DATA_HOME: join(folder.path, "data") };
});
afterEach(async () => {
  serving?.signal("SIGTERM");
  expect(await serving?.exited).toBe(0);
  serving = undefined;
  folder[Symbol.dispose]();
});

async function start(scim: object | undefined = {}): Promise<void> {
  const directory = scim && { scim: { token: "${DIRECTORY_TOKEN}", ...scim } };
  folder.write("claudikins.json", {
    mcpServers: { newer: fixture("modern", "reject", folder.path) },
    doors: { qa: { servers: ["newer"] } },
    auth: {
      oidc: {
        issuer: provider.issuer,
        audience: "https://tools.example.com",
        doors: { qa: ["qa-team"] },
        administrators: ["it"],
        ...directory,
      },
    },
  });
  const own = { CLAUDIKINS_LOG: "debug", CLAUDIKINS_DAEMON: "off", DIRECTORY_TOKEN: token };
  serving = await httpServe(folder, [], { token: "kept", env: own });
}

interface Answer {
  status: number;
  // Bodies have many forms.
  // biome-ignore lint/suspicious/noExplicitAny: each test says what it expects of them.
  body: any;
  headers: Headers;
}

async function ask(method: string, path: string, body?: unknown, bearer = token): Promise<Answer> {
  const headers = { authorization: `Bearer ${bearer}`, "content-type": "application/scim+json" };
  const text = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
  const response = await fetch(new URL(`/scim/v2/${path}`, serving!.url), { method, headers, ...text });
  const answer = await response.text();
  if (answer !== "") expect(response.headers.get("content-type")).toBe("application/scim+json");
  return { status: response.status, body: answer === "" ? undefined : JSON.parse(answer), headers: response.headers };
}

const patch = (path: string, ...Operations: object[]) => ask("PATCH", path, { schemas: [patchOp], Operations });

async function newUser(userName: string, more: object = {}): Promise<string> {
  const { status, body } = await ask("POST", "Users", { schemas: [user], userName, externalId: userName, ...more });
  expect(status).toBe(201);
  return body.id;
}

/** The status of an answer to a request at the door. */
async function knock(subject: string): Promise<number> {
  const headers = { ...json, authorization: `Bearer ${await provider.token(subject)}` };
  const init = { method: "POST", body: JSON.stringify(initialize()), headers };
  return (await fetch(new URL("/qa", serving!.url), init)).status;
}

describe("people", () => {
  test("are let in while the directory has them as active users", async () => {
    await start();
    expect(await knock("ann")).toBe(403);
    const id = await newUser("ann");
    await newUser("bob", { active: false });
    expect([await knock("ann"), await knock("bob")]).toEqual([200, 403]);
    // As Entra ID sends it.
    expect((await patch(`Users/${id}`, { op: "Replace", path: "active", value: "False" })).body.active).toBe(false);
    expect(await knock("ann")).toBe(403);
    // As Okta sends it.
    expect((await patch(`Users/${id}`, { op: "replace", value: { active: true } })).body.active).toBe(true);
    expect(await knock("ann")).toBe(200);
    expect((await ask("DELETE", `Users/${id}`)).status).toBe(204);
    expect([(await ask("GET", `Users/${id}`)).status, await knock("ann")]).toEqual([404, 403]);
    // The person comes back as another user.
    await newUser("ann");
    expect(await knock("ann")).toBe(200);
    const why = (await auditLines(env)).flatMap((line) =>
      line.why === undefined ? [] : [`${line.decision} ${line.why}`],
    );
    expect(why).toEqual([
      "revoked the directory says so",
      "restored the directory says so",
      "revoked the directory says so",
      "restored the directory says so",
    ]);
  });

  test("lose their sessions and programs within seconds", async () => {
    await start();
    const id = await newUser("ann");
    const headers = { authorization: `Bearer ${await provider.token("ann")}` };
    const session = await rawSession(new URL("/qa", serving!.url).href, "2025-11-25", {}, "agent", headers);
    const open = await session.post(executeRequest(2, "await sleep(60_000)"));
    const begunAt = performance.now();
    await patch(`Users/${id}`, { op: "replace", path: "active", value: false });
    await open.text().catch(() => "");
    expect(performance.now() - begunAt).toBeLessThan(5_000);
    await using store = openStore(env);
    expect(await store.people.list()).toMatchObject([{ subject: "ann", revokedAt: expect.any(Number) }]);
  });

  test("stay revoked by an administrator, whatever else the directory changes", async () => {
    await start();
    const id = await newUser("ann");
    expect(await knock("ann")).toBe(200);
    await using store = openStore(env);
    await eventually(async () => (await store.people.list()).length === 1);
    await store.people.setRevoked(await store.people.list(), 1);
    await ask("PUT", `Users/${id}`, { schemas: [user], userName: "ann", externalId: "ann", displayName: "Ann" });
    await patch(`Users/${id}`, { op: "replace", path: "active", value: true });
    expect(await knock("ann")).toBe(403);
  });

  test("have the groups of the directory, also those of groups within groups, if the config says so", async () => {
    await start({ groups: true });
    const [ann, bob] = [await newUser("ann"), await newUser("bob")];
    // The groups of their tokens do not count.
    expect(await knock("ann")).toBe(404);
    const make = async (displayName: string, members: string[]) => {
      const made = await ask("POST", "Groups", {
        schemas: [group],
        displayName,
        members: members.map((value) => ({ value })),
      });
      expect(made.status).toBe(201);
      return made.body.id as string;
    };
    const testers = await make("testers", [ann]);
    const team = await make("qa-team", [testers]);
    expect([await knock("ann"), await knock("bob")]).toEqual([200, 404]);
    const add = { op: "Add", path: "members", value: [{ value: bob }, { value: bob }] };
    expect((await patch(`Groups/${team}`, add)).status).toBe(204);
    expect(await knock("bob")).toBe(200);
    expect((await patch(`Groups/${team}`, { op: "Remove", path: `members[value eq "${bob}"]` })).status).toBe(204);
    expect((await patch(`Groups/${testers}`, { op: "Remove", path: "members", value: [{ value: ann }] })).status).toBe(
      204,
    );
    expect([await knock("ann"), await knock("bob")]).toEqual([404, 404]);
    // A circle of groups ends.
    await patch(`Groups/${testers}`, { op: "replace", path: "members", value: [{ value: team }, { value: ann }] });
    expect(await knock("ann")).toBe(200);
    expect((await ask("DELETE", `Groups/${team}`)).status).toBe(204);
    expect(await knock("ann")).toBe(404);
    expect((await ask("GET", `Groups/${testers}`)).body.members).toEqual([{ value: ann }]);
  });

  test("are found by another claim, and their names in any case", async () => {
    provider.accounts["ann"] = { groups: ["qa-team"], email: "Ann@Example.com" };
    await start({ attribute: "userName", claim: "email" });
    await newUser("ann@example.COM");
    expect([await knock("ann"), await knock("bob")]).toEqual([200, 403]);
  });
});

describe("the service", () => {
  test("is closed to everybody without the token, and is nowhere without a directory", async () => {
    await start();
    for (const wrong of ["", "wrong", token.slice(1), "kept", await provider.token("ann")]) {
      const { status, body, headers } = await ask("GET", "Users", undefined, wrong);
      expect([status, body.status, headers.get("www-authenticate")]).toEqual([401, "401", 'Bearer realm="scim"']);
    }
    serving!.signal("SIGTERM");
    await serving!.exited;
    folder.write("none", "");
    const directory = undefined;
    folder.write("claudikins.json", {
      mcpServers: {},
      auth: { oidc: { issuer: provider.issuer, audience: "a", directory } },
    });
    serving = await httpServe(folder, [], { token: "kept", env: { CLAUDIKINS_DAEMON: "off" } });
    const answer = await fetch(new URL("/scim/v2/Users", serving.url), {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.status).toBe(401);
  });

  test("describes itself", async () => {
    await start();
    const config = (await ask("GET", "ServiceProviderConfig")).body;
    expect(config).toMatchObject({
      patch: { supported: true },
      bulk: { supported: false },
      filter: { supported: true },
    });
    const types = (await ask("GET", "ResourceTypes")).body;
    expect(types.Resources.map(({ endpoint, schema }: Record<string, unknown>) => [endpoint, schema])).toEqual([
      ["/Users", user],
      ["/Groups", group],
    ]);
    const schemas = (await ask("GET", "Schemas")).body;
    expect(schemas.Resources.map(({ id }: Record<string, unknown>) => id)).toEqual([user, group]);
    expect(
      (await ask("GET", `Schemas/${user}`)).body.attributes.map(({ name }: Record<string, unknown>) => name),
    ).toContain("userName");
    for (const path of ["Schemas/nothing", "Nothing", "Users/1/2", "Schemas/a/b"])
      expect((await ask("GET", path)).status).toBe(404);
    for (const path of ["Bulk", "Me"]) expect((await ask("POST", path, {})).status).toBe(501);
    expect((await ask("DELETE", "Users")).status).toBe(405);
  });

  test("keeps, finds and lists users", async () => {
    await start();
    const sent = {
      schemas: [user, enterprise],
      userName: "Ann@example.com",
      externalId: "a1",
      displayName: "Ann Example",
      active: "True",
      name: { givenName: "Ann", familyName: "Example" },
      emails: [{ value: "ann@example.com", type: "work", primary: true }],
      password: "hush",
      [enterprise]: { department: "QA" },
    };
    const made = await ask("POST", "Users", sent);
    const { id, meta, ...rest } = made.body;
    expect(rest).toEqual({
      schemas: [user],
      userName: "Ann@example.com",
      externalId: "a1",
      displayName: "Ann Example",
      active: true,
      name: { givenName: "Ann", familyName: "Example" },
      emails: [{ value: "ann@example.com", type: "work", primary: true }],
    });
    expect(meta.resourceType).toBe("User");
    expect(new URL(meta.location).pathname).toBe(`/scim/v2/Users/${id}`);
    expect(made.headers.get("location")).toBe(meta.location);
    const again = await ask("POST", "Users", { ...sent, userName: "ANN@EXAMPLE.COM" });
    expect([again.status, again.body.scimType]).toEqual([409, "uniqueness"]);
    for (let number = 0; number < 12; number++) await newUser(`user ${number}`);
    const find = async (filter: string) => (await ask("GET", `Users?filter=${encodeURIComponent(filter)}`)).body;
    expect((await find('userName eq "ann@EXAMPLE.com"')).Resources).toMatchObject([{ id }]);
    expect((await find('externalId eq "a1"')).Resources).toMatchObject([{ id }]);
    expect((await find(`${user}:userName Eq "user 3"`)).totalResults).toBe(1);
    expect(await find('userName eq "nobody"')).toMatchObject({ totalResults: 0, Resources: [] });
    for (const wrong of ['userName co "a"', "active eq true", 'userName eq "a" or id eq "b"', "x", '"'])
      expect(await find(wrong)).toMatchObject({ status: "400", scimType: "invalidFilter" });
    const page = (await ask("GET", "Users?startIndex=12&count=5")).body;
    expect([page.totalResults, page.startIndex, page.itemsPerPage]).toEqual([13, 12, 2]);
    expect((await ask("GET", "Users?count=0")).body).toMatchObject({ totalResults: 13, Resources: [] });
    expect((await ask("GET", "Users?count=many")).status).toBe(400);
  });

  test("makes the changes that directories send", async () => {
    await start();
    const id = await newUser("ann", { emails: [{ value: "a@example.com", type: "work" }] });
    const now = async (...operations: object[]) => {
      const { status, body } = await patch(`Users/${id}`, ...operations);
      expect([status, body.detail]).toEqual([200, undefined]);
      return body;
    };
    const work = 'emails[type eq "work"].value';
    expect((await now({ op: "Replace", path: work, value: "b@example.com" })).emails).toEqual([
      { value: "b@example.com", type: "work" },
    ]);
    // An address that is not there yet.
    const home = 'emails[type eq "home"].value';
    expect((await now({ op: "Add", path: home, value: "c@example.com" })).emails).toHaveLength(2);
    expect((await now({ op: "remove", path: 'emails[type eq "home"]' })).emails).toHaveLength(1);
    expect((await now({ op: "Add", path: "name.familyName", value: "Example" })).name).toEqual({
      familyName: "Example",
    });
    expect((await now({ op: "replace", value: { "name.givenName": "Ann", displayName: "Ann" } })).name).toEqual({
      familyName: "Example",
      givenName: "Ann",
    });
    expect((await now({ op: "remove", path: "displayName" })).displayName).toBeUndefined();
    // Attributes that are not kept.
    const department = `${enterprise}:department`;
    await now({ op: "Add", path: department, value: "QA" }, { op: "replace", path: "nickName", value: "annie" });
    expect((await now({ op: "replace", path: `${user}:userName`, value: "ann2" })).userName).toBe("ann2");
    const wrong: [object[], string][] = [
      [[{ op: "replace", path: "emails[type co 'x']", value: 1 }], "invalidPath"],
      [[{ op: "replace", path: "a b", value: 1 }], "invalidPath"],
      [[{ op: "move", path: "active", value: true }], "invalidSyntax"],
      [[], "invalidSyntax"],
      [[{ op: "remove" }], "noTarget"],
      [[{ op: "replace", path: "userName", value: 7 }], "invalidValue"],
      [[{ op: "remove", path: "userName" }], "invalidValue"],
      [[{ op: "replace", path: "active", value: "maybe" }], "invalidValue"],
      [[{ op: "replace", value: "text" }], "invalidValue"],
    ];
    for (const [operations, scimType] of wrong)
      expect([operations, (await patch(`Users/${id}`, ...operations)).body]).toEqual([
        operations,
        expect.objectContaining({ status: "400", scimType }),
      ]);
    expect((await ask("PATCH", `Users/${id}`, { Operations: [] })).status).toBe(400);
    expect((await patch("Users/nobody", { op: "replace", path: "active", value: true })).status).toBe(404);
  });

  test("refuses hostile requests, and stays as it was", async () => {
    await start();
    const id = await newUser("ann");
    await newUser("bob");
    for (const path of [
      "__proto__.polluted",
      "constructor.prototype.polluted",
      '__proto__[a eq "b"].c',
      "name.__proto__",
    ])
      await patch(`Users/${id}`, { op: "add", path, value: { polluted: "yes" } });
    await ask("PUT", `Users/${id}`, '{"userName":"ann","externalId":"ann","__proto__":{"polluted":"yes"}}');
    expect((await ask("GET", "ServiceProviderConfig")).body.polluted).toBeUndefined();
    const { body } = await ask("GET", `Users/${id}`);
    expect(Object.keys(body).sort()).toEqual(
      ["active", "externalId", "id", "meta", "schemas", "userName", ...("name" in body ? ["name"] : [])].sort(),
    );
    const wrong = ["", "[]", "{", "null", '{"userName":""}', JSON.stringify({ userName: "x".repeat(2_000) })];
    for (const text of wrong) expect((await ask("POST", "Users", text)).status).toBe(400);
    expect((await ask("POST", "Users", `{"userName":"${"x".repeat(3_000_000)}"}`)).status).toBe(413);
    expect((await patch(`Users/${id}`, { op: "replace", path: "userName", value: "BOB" })).status).toBe(409);
    expect((await ask("GET", "Users/%ZZ")).status).toBe(404);
    const deep = `{"userName":"deep","emails":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
    expect((await ask("POST", "Users", deep)).status).toBe(400);
    const text = "'; DROP TABLE directory; --\u0000";
    const odd = await ask("POST", "Users", { userName: text });
    expect(odd.status).toBe(201);
    expect((await ask("GET", `Users/${odd.body.id}`)).body.userName).toBe(text);
  });

  test("takes a group of 10,000 members in the pieces that directories send", async () => {
    await start();
    const made = await ask("POST", "Groups", { schemas: [group], displayName: "all" });
    const path = `Groups/${made.body.id}`;
    for (let from = 0; from < 10_000; from += 1_000) {
      const members = Array.from({ length: 1_000 }, (_, at) => ({ value: `user-${from + at}` }));
      const operations =
        from === 0
          ? members.map((value) => ({ op: "Add", path: "members", value: [value] }))
          : [{ op: "add", path: "members", value: members }];
      expect((await patch(path, ...operations)).status).toBe(204);
    }
    expect((await ask("GET", path)).body.members).toHaveLength(10_000);
    expect((await ask("GET", `${path}?excludedAttributes=members`)).body.members).toBeUndefined();
    const found = await ask(
      "GET",
      `Groups?filter=${encodeURIComponent('displayName eq "ALL"')}&excludedAttributes=members`,
    );
    expect(found.body.Resources).toMatchObject([{ displayName: "all" }]);
    expect((await patch(path, { op: "remove", path: "members" })).status).toBe(204);
    expect((await ask("GET", path)).body.members).toEqual([]);
  });
});
