/** Servers with `"credentials": "user"` and `"exchange"`: each person has tokens, connections and tools of the person's own. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { createLocalJWKSet, jwtVerify } from "jose";
import { personId } from "../../src/policy/people/claims.ts";
import { changePeople } from "../../src/serve/people/access.ts";
import { openStore } from "../../src/store/open.ts";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { type HttpServe, httpServe, initialize, json } from "../support/http-serve.ts";
import { modernAnswer } from "../support/modern-host.ts";
import { followed, type OidcFixture, oidcFixture } from "../support/oidc.ts";
import { type OwnAccounts, ownAccounts } from "../support/own-accounts.ts";
import { bearer, type Cookies, PersonHosts } from "../support/person-hosts.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
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
const browse = hosts.browse.bind(hosts);
const host = hosts.host.bind(hosts);
const plainHost = hosts.plainHost.bind(hosts);

beforeAll(async () => {
  const people = { ann: { groups: ["qa-team"], email: "ann@example.com" }, bob: { groups: ["qa-team"] } };
  provider = await oidcFixture(people, [`${origin}/ui/signed-in`]);
});
afterAll(() => provider[Symbol.asyncDispose]());
beforeEach(async () => {
  folder = temporaryFolder();
  accounts = await ownAccounts();
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

async function start(entry: object = {}, auth: object = {}, more: object = {}): Promise<HttpServe> {
  folder.write("claudikins.json", {
    mcpServers: { desk: { url: accounts.url, credentials: "user", ...entry } },
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
      ...auth,
    },
    ...more,
  });
  serving = await httpServe(folder, [], {
    token: "kept",
    port: String(port),
    env: { CLAUDIKINS_LOG: "debug", CLAUDIKINS_DAEMON: "off", ...env },
  });
  return serving;
}

const link = (subject: string) => `${origin}/ui/connect/qa/desk?for=${personId(provider.issuer, subject)}`;

/** The files with credentials of people, as texts. */
function sealedFiles(): string[] {
  const at = join(folder.path, "data", "claudikins", "people");
  const names = readdirSync(at, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith("credentials.json")).map((name) => readFileSync(join(at, name), "utf8"));
}

const removePeople = () => rmSync(join(folder.path, "data", "claudikins", "people"), { recursive: true });

/** The contents of all files below a folder of the project. */
function textsBelow(relative: string, isMeant: (path: string) => boolean = () => true): string {
  const at = join(folder.path, relative);
  const found = readdirSync(at, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  const paths = found.map(({ parentPath, name }) => join(parentPath, name)).filter(isMeant);
  return paths.map((path) => readFileSync(path, "utf8")).join("\n");
}

const ownFiles = (id: string) => textsBelow(`.claudikins/doors/qa/registry-people/${id}`);

const command = (args: string[]) =>
  runProgram([...claudikinsCommand, ...args], {
    cwd: folder.path,
    env: testEnvironment({ CLAUDIKINS_DAEMON: "off", ...env }),
  });

const who = "return (await desk.who({})).who";

describe("a server with the credentials of each person", () => {
  test("asks a person for a sign-in in the middle of a program, and acts as that person", async () => {
    await start();
    await using ann = await host("ann");
    expect(await ann.execute("const before = 1; const { who } = await desk.who({}); return who + before")).toBe("ann1");
    expect(ann.asked).toEqual([
      `[desk] Sign in with your own account. Programs of your agents then use desk as you. ${link("ann")}`,
    ]);
    await using bob = await host("bob");
    // Several calls ask once.
    expect(
      await bob.execute("return (await Promise.all([1, 2, 3].map(() => desk.who({})))).map((each) => each.who)"),
    ).toBe('["bob", "bob", "bob"]');
    expect(bob.asked).toHaveLength(1);
    // Nobody is asked again, in another session either.
    expect(await ann.execute(who)).toBe("ann");
    await using again = await host("ann", { opens: false });
    expect(await again.execute(who)).toBe("ann");
    expect([...ann.asked, ...again.asked]).toHaveLength(1);
  });

  test("asks a host of 2026-07-28 too", async () => {
    await start();
    const headers = bearer(await provider.token("ann"));
    const capabilities = { elicitation: { url: {} } };
    const execute = (more: object = {}) =>
      modernAnswer(
        `${origin}/qa`,
        "tools/call",
        { name: "execute_code", arguments: { code: who }, ...more },
        { headers, capabilities },
      );
    const { result } = await execute();
    const [[key, question]] = Object.entries(result!.inputRequests!) as unknown as [
      [string, { params: { url: string } }],
    ];
    expect(question.params.url).toBe(link("ann"));
    expect((await browse(question.params.url, new Map(), "ann")).text).toContain("<h1>Signed in to desk</h1>");
    const inputResponses = { [key]: { action: "accept" } };
    const { result: last } = await execute({ requestState: result!["requestState"], inputResponses });
    expect(last!.content![0]!.text).toStartWith("ann");
  });

  test("tells an agent that cannot show a link what to do", async () => {
    await start();
    await using ann = await plainHost("ann");
    const text = await ann.execute(who);
    expect(text).toContain('Server "desk" cannot be used: it needs a sign-in (401)');
    expect(text).toContain(`ann@example.com must open ${link("ann")} in a browser and sign in, then call again.`);
    await browse(link("ann"), new Map(), "ann");
    expect(await ann.execute(who)).toBe("ann");
    // A person who refuses gets the same error.
    await using bob = await host("bob", { opens: false });
    expect(await bob.execute(who)).toContain(`bob must open ${link("bob")}`);
  });

  test("never gives one person what belongs to another, in both eras and with many calls at once", async () => {
    await start();
    const people = ["ann", "bob"] as const;
    for (const each of people) expect((await browse(link(each), new Map(), each)).status).toBe(200);
    const tokens = { ann: await provider.token("ann"), bob: await provider.token("bob") };
    const code = (person: string, round: number) => `
      const calls = await Promise.all([0, 1, 2, 3].map((each) =>
        desk.who({ ms: (each * 7 + ${round}) % 20, tag: "${person}-${round}-" + each })));
      const resources = await desk.resources.list();
      const read = await desk.resources.read("own://" + calls[0].who);
      return { calls, resources, read, tools: (await tools.list("desk")).map((each) => each.id ?? each.name) };`;
    const older = await Promise.all(people.map((each) => plainHost(each)));
    const asking = await Promise.all(people.map((each) => host(each)));
    const work = Array.from({ length: 24 }, async (_, round) => {
      const place = round % 2;
      const person = people[place]!;
      const program = code(person, round);
      const way = Math.floor(round / 2) % 3;
      if (way === 0) return [person, await older[place]!.execute(program)] as const;
      if (way === 1) return [person, await asking[place]!.execute(program)] as const;
      const params = { name: "execute_code", arguments: { code: program } };
      const headers = bearer(tokens[person]);
      const { result } = await modernAnswer(`${origin}/qa`, "tools/call", params, { headers, name: `m${round}` });
      return [person, result!.content![0]!.text] as const;
    });
    const answers = await Promise.all(work);
    for (const [person, text] of answers) {
      const other = person === "ann" ? "bob" : "ann";
      expect(text).toContain(`"who": "${person}"`);
      expect(text).toContain(`of_${person}`);
      expect(text.toLowerCase()).not.toContain(other);
    }
    // The tools, their types and the shapes of results.
    const search = async (place: 0 | 1) => {
      const { content } = await older[place]!.client.callTool({ name: "search_tools", arguments: { server: "desk" } });
      return JSON.stringify(content);
    };
    expect(await search(0)).toContain("of_ann");
    expect(await search(0)).not.toContain("bob");
    expect(await search(1)).not.toContain("ann");
    for (const each of [...older, ...asking]) await each[Symbol.asyncDispose]();
    await stop();
    // The disk has types, the index, and the shapes of results with the keys of their objects.
    const shapes = new Map(people.map((each) => [each, ownFiles(personId(provider.issuer, each))]));
    for (const [person, text] of shapes) {
      expect(text).toContain(`key_of_${person}`);
      expect(text).not.toMatch(person === "ann" ? /of_bob|For bob/ : /of_ann|For ann/);
    }
    const shared = textsBelow(".claudikins", (path) => !path.includes("-people"));
    expect(shared).not.toMatch(/of_(?:ann|bob)/);
  });

  test("has the tools of each person in direct mode, and asks people at the same time", async () => {
    await start({}, {}, { mode: "direct" });
    for (const each of ["ann", "bob"]) await browse(link(each), new Map(), each);
    const agents = await Promise.all(["ann", "bob"].map((each) => plainHost(each)));
    const namesOf = async ({ client }: { client: Client }) =>
      (await client.listTools()).tools.map(({ name }) => name).sort();
    // Servers answer in the background.
    const listed = async () => Promise.all(agents.map(namesOf));
    await eventually(async () => (await listed()).every((names) => names.length > 1));
    expect((await listed()).map((names) => names.filter((name) => name.includes("of_")))).toEqual([
      ["of_ann"],
      ["of_bob"],
    ]);
    const called = await Promise.all(agents.map(({ client }) => client.callTool({ name: "who", arguments: {} })));
    expect(called.map(({ content }) => JSON.parse((content as [{ text: string }])[0].text).who)).toEqual([
      "ann",
      "bob",
    ]);
    for (const each of agents) await each[Symbol.asyncDispose]();
    await stop();
    removePeople();
    await start();
    const asking = await Promise.all(["ann", "bob"].map((each) => host(each)));
    expect(await Promise.all(asking.map((each) => each.execute(who)))).toEqual(["ann", "bob"]);
    expect(asking.map(({ asked }) => asked.map((each) => each.split(" ").at(-1)))).toEqual([
      [link("ann")],
      [link("bob")],
    ]);
    for (const each of asking) await each[Symbol.asyncDispose]();
  });

  test("renews the tokens of each person, once for all calls", async () => {
    accounts.tokenSeconds = 2;
    await start();
    for (const each of ["ann", "bob"]) await browse(link(each), new Map(), each);
    await using ann = await plainHost("ann");
    await using bob = await plainHost("bob");
    expect([await ann.execute(who), await bob.execute(who)]).toEqual(["ann", "bob"]);
    await Bun.sleep(2_200);
    accounts.tokenSeconds = 300;
    const before = accounts.refreshes;
    const many =
      "return [...new Set((await Promise.all([...Array(8)].map(() => desk.who({})))).map((each) => each.who))]";
    expect(await Promise.all([ann.execute(many), bob.execute(many), ann.execute(many)])).toEqual([
      '["ann"]',
      '["bob"]',
      '["ann"]',
    ]);
    expect(accounts.refreshes - before).toBe(2);
  });

  test("lets only the person who began a sign-in finish it", async () => {
    await start();
    const bobs: Cookies = new Map();
    const refused = await browse(link("ann"), bobs, "bob");
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining("This link is for another person. You have signed in as bob"),
    ]);
    // Bob begins, and sends Ann the address at which Bob would sign in.
    const anns: Cookies = new Map();
    await browse(`${origin}/ui/`, anns, "ann");
    const cookie = [...bobs].map(([name, value]) => `${name}=${value}`).join("; ");
    const own = { cookie, origin, "sec-fetch-site": "same-origin" };
    const begun = await fetch(link("bob"), { redirect: "manual", method: "POST", body: "", headers: own });
    const stolen = await browse(begun.headers.get("location")!, anns, "ann");
    expect([stolen.status, stolen.text]).toEqual([403, expect.stringContaining("This sign-in was not begun by you")]);
    // Nor does it end without a session.
    const back = await followed(
      new URL(`${begun.headers.get("location")}&login_hint=ann`),
      (to) => to.origin === origin,
      new Map(),
    );
    expect((await fetch(back, { redirect: "manual" })).status).toBe(401);
    await using bob = await plainHost("bob");
    expect(await bob.execute(who)).toContain("needs a sign-in");
    // What people may not use looks like what does not exist.
    const none = (path: string) => browse(`${origin}/ui/connect/${path}`, bobs, "bob");
    for (const path of ["qa/nope", "mcp/desk", "nope/desk", "qa/%E0%A4%A", "qa/__proto__"]) {
      expect(await none(path)).toEqual({
        status: 404,
        text: expect.stringContaining("There is no such server for you. Your groups may not include it"),
      });
    }
  });

  test("keeps credentials sealed, with the first of several keys", async () => {
    await start();
    for (const each of ["ann", "bob"]) await browse(link(each), new Map(), each);
    await using ann = await plainHost("ann");
    expect(await ann.execute(who)).toBe("ann");
    await eventually(() => accounts.tokens.size > 0);
    const secrets = [...accounts.tokens, env["CLAUDIKINS_SEALING_KEY"]!];
    expect(sealedFiles()).toHaveLength(2);
    const everything = [...sealedFiles(), serving!.stderr()].join("\n");
    for (const secret of secrets) expect(everything).not.toContain(secret);
    await stop();

    const older = env["CLAUDIKINS_SEALING_KEY"]!;
    const newer = randomBytes(32).toString("base64");
    const keys = { sealingKey: ["${NEWER}", "${OLDER}"] };
    env = { ...env, NEWER: newer, OLDER: older };
    const before = sealedFiles();
    await start({}, keys);
    await using again = await plainHost("ann");
    expect(await again.execute(who)).toBe("ann");
    // Used credentials are sealed again, and others are not.
    await eventually(() => sealedFiles().filter((each) => before.includes(each)).length === 1);
    await stop();

    folder.write("keys", `\n${newer}\n`);
    await start({}, { sealingKeyFile: "keys" });
    await using third = await plainHost("ann");
    expect(await third.execute(who)).toBe("ann");
    // Bob's were never used with the newer key.
    await using bob = await plainHost("bob");
    expect(await bob.execute(who)).toContain("needs a sign-in");
  });

  test("does not start without a key, and says what to set", async () => {
    delete env["CLAUDIKINS_SEALING_KEY"];
    await start();
    await using ann = await plainHost("ann");
    const text = await ann.execute(who);
    expect(text).toContain("needs CLAUDIKINS_SEALING_KEY");
    await stop();
    env["CLAUDIKINS_SEALING_KEY"] = "too-short";
    await start();
    const answer = await fetch(`${origin}/qa`, {
      method: "POST",
      headers: { ...json, ...bearer(await provider.token("ann")) },
      body: JSON.stringify(initialize()),
    });
    expect(answer.status).toBe(500);
    expect(serving!.stderr()).toContain(
      "The credentials of people cannot be sealed: a key must have 32 bytes, in base64",
    );
    expect(serving!.stderr()).not.toContain("too-short");
  });

  test("forgets the credentials of a person who is revoked", async () => {
    await start();
    await browse(link("ann"), new Map(), "ann");
    await using ann = await plainHost("ann");
    expect(await ann.execute(who)).toBe("ann");
    await using store = openStore(env);
    const config = join(folder.path, "claudikins.json");
    const people = await store.people.list(config);
    const shown = await command(["people", "list", "--json"]);
    expect(JSON.parse(shown.stdout).people).toMatchObject([{ name: "ann@example.com", servers: ["desk"] }]);
    await changePeople(people, "revoked", env);
    expect(sealedFiles()).toEqual([]);
    await changePeople([{ ...people[0]!, revokedAt: 1 }], "restored", env);
    await using again = await plainHost("ann");
    expect(await again.execute(who)).toContain("must open");
  });

  test("is not for callers who have not signed in", async () => {
    folder.write("token", "a-fixed-token-of-some-length-1234567890");
    await start();
    await stop();
    const { stderr, exitCode } = await command(["call", "desk.who"]);
    expect(exitCode).toBe(3);
    expect(stderr).toContain('Server "desk" cannot be used: it uses the credentials of people who sign in');
    const login = await command(["auth", "login", "desk"]);
    expect(login.exitCode).toBe(2);
    expect(login.stderr).toContain('Server "desk" uses the credentials of each person and has no common sign-in');
  });
});

describe("a server with keys that people enter", () => {
  const form = (keys: Record<string, string>, cookies: Cookies, headers: Record<string, string> = {}) =>
    fetch(link("ann"), {
      method: "POST",
      body: new URLSearchParams(keys),
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
        origin,
        "sec-fetch-site": "same-origin",
        ...headers,
      },
    });

  test("on the network gets the person's own, and asks again when it refuses one", async () => {
    await accounts[Symbol.asyncDispose]();
    let areRevoked = false;
    accounts = await ownAccounts(async (token) => {
      const [, sub] = /^key-of-(ann|bob)-0123456789$/.exec(token) ?? [];
      if (sub === undefined || areRevoked) throw new Error("no such key");
      return { sub };
    });
    await start({ headers: { Authorization: "Bearer ${user:DESK_KEY}" } });
    await using ann = await plainHost("ann");
    const first = await ann.execute(who);
    expect(first).toContain('Server "desk" cannot be used: it needs DESK_KEY of ann@example.com');
    expect(first).toContain(`ann@example.com must open ${link("ann")}`);
    const cookies: Cookies = new Map();
    const asked = await browse(link("ann"), cookies, "ann");
    expect(asked.text).toContain('<input type="password" name="DESK_KEY"');

    for (const headers of [{ origin: "https://evil.example.com" }, { "sec-fetch-site": "cross-site" }]) {
      expect((await form({ DESK_KEY: "key-of-bob-0123456789" }, cookies, headers)).status).toBe(403);
    }
    expect((await form({ DESK_KEY: "key-of-bob-0123456789" }, new Map())).status).toBe(401);
    expect(await (await form({ DESK_KEY: "two\nlines" }, cookies)).text()).toContain("must be one line");
    expect(await ann.execute(who)).toContain("it needs DESK_KEY");

    const entered = async (key: string) => (await form({ DESK_KEY: key }, cookies)).text();
    expect(await entered("a-wrong-key-0123456789")).toContain("desk has refused what you entered, so it was not kept");
    expect(await ann.execute(who)).toContain("it needs DESK_KEY");
    expect(await entered("key-of-ann-0123456789")).toContain("<h1>Signed in to desk</h1>");
    expect(await ann.execute(who)).toBe("ann");
    // The key that works stays.
    expect(await entered("a-wrong-key-0123456789")).toContain("desk has refused what you entered, so it was not kept");
    expect(await ann.execute(who)).toBe("ann");
    areRevoked = true;
    expect(await ann.execute(who)).toContain("it refused the key of ann@example.com (401)");
    await using bob = await plainHost("bob");
    expect(await bob.execute(who)).toContain("it needs DESK_KEY of bob");
    const everything = [...sealedFiles(), serving!.stderr()].join("\n");
    expect(everything).not.toMatch(/key-of-ann|a-wrong-key/);
  });

  test("on the machine has a process for each person", async () => {
    const { command: program, args } = fixture("own-key");
    const config = { url: undefined, command: program, args, env: { DESK_KEY: "${user:DESK_KEY}" } };
    await start(config);
    const seen: Record<string, string> = {};
    for (const each of ["ann", "bob"]) {
      const cookies: Cookies = new Map();
      await browse(`${origin}/ui/`, cookies, each);
      const headers = { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "), origin };
      const body = new URLSearchParams({ DESK_KEY: `key-of-${each}-0123456789` });
      expect((await fetch(link(each), { method: "POST", body, headers })).status).toBe(200);
      await using agent = await plainHost(each);
      await using another = await plainHost(each);
      const code = "const { key, pid } = await desk.key({}); return [key, pid].join()";
      seen[each] = await agent.execute(code);
      // Both agents of a person use one process.
      expect(await another.execute(code)).toBe(seen[each]!);
      expect(seen[each]).toMatch(new RegExp(`^key-of-${each}-0123456789,\\d+$`));
    }
    expect(seen["ann"]?.split(",")[1]).not.toBe(seen["bob"]?.split(",")[1]);
    // The server writes its key to stderr, which is kept in its log.
    const logs = textsBelow("data/claudikins/logs");
    expect(logs).toContain("starts with ${DESK_KEY}");
    for (const text of [logs, serving!.stderr(), ...sealedFiles()]) expect(text).not.toContain("key-of-");
  });
});

describe("a server with exchanged tokens", () => {
  const exchange = () => ({
    credentials: "exchange",
    exchange: {
      tokenUrl: `${provider.issuer}/token`,
      audience: "https://desk.example.com",
      clientId: "exchanger",
      clientSecret: "exchanger-secret",
    },
  });

  beforeEach(async () => {
    provider.exchanges = [];
    provider.exchangeProblem = undefined;
    await accounts[Symbol.asyncDispose]();
    accounts = await ownAccounts(async (token) => {
      const keys = createLocalJWKSet({ keys: await provider.keys() });
      return (await jwtVerify(token, keys, { issuer: provider.issuer, audience: "https://desk.example.com" })).payload;
    });
  });

  test("gets a token for each person, and keeps it until it expires", async () => {
    await start(exchange());
    await using ann = await plainHost("ann");
    await using bob = await host("bob");
    const many =
      "return [...new Set((await Promise.all([...Array(8)].map(() => desk.who({})))).map((each) => each.who))]";
    expect(await Promise.all([ann.execute(many), bob.execute(many), ann.execute(many)])).toEqual([
      '["ann"]',
      '["bob"]',
      '["ann"]',
    ]);
    expect(provider.exchanges.sort()).toEqual(["ann https://desk.example.com", "bob https://desk.example.com"]);
    expect(bob.asked).toEqual([]);
    await stop();
    // Another process has the same tokens.
    await start(exchange());
    await using again = await plainHost("ann");
    expect(await again.execute(who)).toBe("ann");
    expect(provider.exchanges).toHaveLength(2);
    for (const secret of [...accounts.tokens, "exchanger-secret"]) {
      expect([...sealedFiles(), serving!.stderr()].join("\n")).not.toContain(secret);
    }
  });

  test("fails with the server and the person if the provider refuses", async () => {
    provider.exchangeProblem = "desk is not for everybody";
    await start(exchange());
    await using ann = await host("ann");
    const text = await ann.execute(who);
    expect(text).toContain(
      'Server "desk" cannot be used: the provider refused to exchange the token of ann@example.com: invalid_target: desk is not for everybody',
    );
    expect(text).toContain(`Ask the operator of ${provider.issuer} to allow this`);
    expect(ann.asked).toEqual([]);
    expect(text + serving!.stderr()).not.toMatch(/eyJ[\w-]+\.eyJ/);
    expect(accounts.sessions).toEqual([]);
    // A newer token of the person is tried at once.
    provider.exchangeProblem = undefined;
    await Bun.sleep(1_000);
    await using again = await plainHost("ann");
    expect(await again.execute(who)).toBe("ann");
  });
});
