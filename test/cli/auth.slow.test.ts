/** `claudikins auth` against a server that requires a sign-in. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type DeviceProvider, deviceProvider } from "../support/device-provider.ts";
import { eventually } from "../support/eventually.ts";
import { networkFixture } from "../support/network.ts";
import { oauthFixture } from "../support/oauth.ts";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";
import { browserCommand, steady } from "../support/sign-in.ts";
import { type CliOptions, cli, page } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();

/** The last page that the browser showed. The browser may load it after the command has ended. */
async function lastPage(): Promise<string> {
  const file = join(folder.path, "page.html");
  await eventually(() => existsSync(file));
  return readFileSync(file, "utf8");
}

function auth(argv: string[], options: CliOptions = {}) {
  const BROWSER = browserCommand(join(folder.path, "page.html"));
  return cli(["auth", ...argv], { cwd: folder.path, ...options, env: { BROWSER, ...options.env } });
}

/** The output as one text, with names in place of everything that differs between runs. */
async function shown(argv: string[], options: CliOptions = {}): Promise<string> {
  return steady(page(["auth", ...argv], await auth(argv, options), folder.path));
}

const configure = (mcpServers: object) => folder.write("claudikins.json", { mcpServers });

test("auth refuses invalid arguments and servers without a sign-in before it contacts a server", async () => {
  configure({
    guarded: { url: "http://127.0.0.1:1/mcp" },
    program: fixture("odd"),
    fixed: { url: "http://127.0.0.1:1/mcp", headers: { authorization: "Bearer secret" } },
    user: { url: "http://me:secret@127.0.0.1:1/mcp" },
    off: { url: "http://127.0.0.1:1/mcp", oauth: false },
    lacking: { url: "http://127.0.0.1:1/$" + "{NO_SUCH_VARIABLE}" },
  });
  const calls = [
    ["nope"],
    ["logn"],
    ["--json"],
    ["login", "--no-brwser"],
    ["login", "--browser"],
    ["login", "guarded", "--timeout", "soon"],
    ["login", "guarded", "--timeout", "2000m"],
    ["login", "guarded", "more"],
    ["login", "guardde"],
    ["login", "program"],
    ["login", "fixed"],
    ["login", "user"],
    ["login", "off"],
    ["login", "lacking"],
    ["login", "lacking", "--force"],
    ["logout"],
    ["logout", "guarded", "--all"],
    ["logout", "program"],
    ["status", "program"],
    ["status", "nope", "--json"],
  ];
  const pages: string[] = [];
  for (const argv of calls) pages.push(await shown(argv));
  expect(pages.join("\n")).toMatchSnapshot();
  expect(pages.join("\n")).not.toContain("secret");
});

test("login, status and logout work in any order, with and without an existing sign-in", async () => {
  await using server = await oauthFixture({ scopesSupported: ["read"], challengeScopes: ["read"] });
  configure({ guarded: { url: server.url }, program: fixture("odd") });
  const story = [
    ["status"],
    ["status", "guarded"],
    ["login"],
    ["login"],
    ["login", "guarded"],
    ["status"],
    ["status", "guarded"],
    ["login", "guarded", "--force"],
    ["logout"],
    ["logout", "guarded"],
    ["logout", "guarded"],
    ["logout", "--all"],
    ["login", "guarded"],
    ["logout", "--all"],
    ["status", "guarded"],
  ];
  const pages: string[] = [];
  for (const argv of story) pages.push(await shown(argv));
  expect(pages.join("\n")).toMatchSnapshot();
  const { registrations, authorizations, revocations, problems } = await server.stats();
  expect({ registrations, sizes: authorizations.length, revocations, problems }).toEqual({
    registrations: 2,
    sizes: 3,
    revocations: 2,
    problems: [],
  });
  expect(await lastPage()).toStartWith("200\n<!doctype html>");
  expect(await lastPage()).toContain("<h1>Signed in to guarded</h1>");
});

test("with --json, auth prints one document on stdout and JSON lines on stderr", async () => {
  await using server = await oauthFixture({ scopesSupported: ["read"], challengeScopes: ["read"] });
  configure({ guarded: { url: server.url } });
  const json = async (...argv: string[]) => {
    const { exitCode, stdout, stderr } = await auth([...argv, "--json"]);
    const lines = stderr
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    return { exitCode, stdout: stdout === "" ? undefined : JSON.parse(stdout), stderr: lines };
  };
  const at = expect.any(Number);
  expect(await json("status", "guarded")).toEqual({
    exitCode: 3,
    stdout: undefined,
    stderr: [
      {
        error: {
          code: "AUTH_REQUIRED",
          message: 'You are not signed in to "guarded"',
          hint: "Sign in: claudikins auth login guarded",
        },
        servers: [{ server: "guarded", state: "signed out" }],
      },
    ],
  });
  expect(await json("login", "guarded")).toEqual({
    exitCode: 0,
    stdout: { server: "guarded", result: "signed in", tools: 2, scopes: ["read"], expiresAt: at },
    stderr: [
      {
        signIn: {
          server: "guarded",
          url: expect.stringContaining("/authorize?"),
          redirectUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
        },
      },
    ],
  });
  expect(await json("login")).toEqual({ exitCode: 0, stdout: null, stderr: [] });
  expect(await json("status")).toEqual({
    exitCode: 0,
    stdout: {
      servers: [
        {
          server: "guarded",
          state: "signed in",
          since: at,
          expiresAt: at,
          renewable: true,
          scopes: ["read"],
          issuer: server.issuer,
        },
      ],
    },
    stderr: [],
  });
  const signedOut = (done: boolean) => ({
    exitCode: 0,
    stdout: { servers: [{ server: "guarded", signedOut: done }] },
    stderr: [],
  });
  expect(await json("logout", "guarded")).toEqual(signedOut(true));
  expect(await json("logout", "--all")).toEqual(signedOut(false));
});

test("login without a name chooses the only server that needs a sign-in", async () => {
  await using first = await oauthFixture();
  await using second = await oauthFixture();
  await using open = await networkFixture("http");
  const openEntry = { url: `http://127.0.0.1:${open.port}/mcp` };
  configure({
    first: { url: first.url },
    open: openEntry,
    "the second": { url: second.url },
    gone: { url: "http://127.0.0.1:1" },
  });
  expect(await shown(["login"])).toMatchSnapshot();
  expect(await shown(["login", "first"])).toContain("Signed in to first: 2 tools");
  expect(await shown(["login"])).toContain("Signed in to the second: 2 tools");
  expect(await shown(["login"])).toMatchSnapshot();
  expect(await shown(["login", "open"])).toMatchSnapshot();
  expect(await shown(["login", "gone"])).toMatchSnapshot();
});

test("login works for a server that lists its tools to everyone but requires a sign-in for calls", async () => {
  await using server = await oauthFixture({ door: "calls" });
  configure({ guarded: { url: server.url } });
  const echo = () => cli(["exec", "-e", "return guarded.echo({ a: 1 })"], { cwd: folder.path });
  expect(await echo()).toMatchObject({ exitCode: 3, stderr: expect.stringContaining("claudikins auth login guarded") });
  expect(await shown(["login", "guarded"])).toContain("Signed in to guarded: 2 tools");
  expect((await echo()).exitCode).toBe(0);
  expect((await server.stats()).problems).toEqual([]);
});

describe("login fails", () => {
  // Three of them wait for the end of the time.
  const cases: [string, Parameters<typeof oauthFixture>[0], timeout?: string][] = [
    ["if the person refuses", { person: "refuses" }],
    ["if the person does not come back", { person: "away" }, "2s"],
    ["if the redirect belongs to another sign-in", { stateInRedirect: "wrong" }, "2s"],
    ["if the redirect has no state", { stateInRedirect: "missing" }, "2s"],
    ["if the redirect comes from another authorization server", { issuerInRedirect: "wrong" }],
    ["if the redirect lacks the promised issuer", { issuerInRedirect: "missing" }],
    ["if the token request is answered with 500", { tokenAnswer: "error" }],
    ["if the token request is answered with invalid_grant", { tokenAnswer: "invalid_grant" }],
    ["if the token response is invalid", { tokenAnswer: "nonsense" }],
    ["if no client can be registered", { registration: false }],
    ["if the sign-in page is a file", { pageLie: "file:///etc/passwd" }],
    ["if the sign-in page is a script", { pageLie: "javascript:alert(1)" }],
    ["if the server rejects the tokens", { door: "refuse" }],
  ];

  test.each(cases)("%s", async (_, options, timeout = "1m") => {
    await using server = await oauthFixture(options);
    configure({ guarded: { url: server.url } });
    const { exitCode, stdout, stderr } = await auth(["login", "guarded", "--timeout", timeout]);
    expect(stdout).toBe("");
    expect(`${steady(stderr)}--- exit code ${exitCode}\n`).toMatchSnapshot();
    for (const secret of await server.secrets()) expect(stderr).not.toContain(secret);
  });

  test("and the browser shows the reason as escaped text", async () => {
    const refusal = "<script>alert(1)</script>\u001b[2J\u0007\nerror: all is well\u202e";
    await using server = await oauthFixture({ person: "refuses", refusal });
    configure({ "<b>guarded</b>": { url: server.url } });
    const { exitCode, stderr } = await auth(["login", "<b>guarded</b>"]);
    expect(exitCode).toBe(3);
    expect(steady(stderr)).toMatchSnapshot();
    const html = await lastPage();
    expect(html).toContain("<h1>Not signed in to &lt;b&gt;guarded&lt;/b&gt;</h1>");
    expect(html.slice(html.indexOf("<body>"))).toMatchSnapshot();
  });
});

test("login without a browser shows the address and checks what is pasted", async () => {
  await using server = await oauthFixture({ person: "away" });
  configure({ guarded: { url: server.url } });
  const argv = ["login", "guarded", "--timeout", "4s"];
  const stdin = "\nhello\nhttp://127.0.0.1:1/callback?code=a&state=b\nabc123def456\n";
  // Each waits four seconds for the person.
  const [asked, without, opened] = await Promise.all([
    shown([...argv, "--no-browser"], { stdin }),
    shown(argv, { stdin, env: { BROWSER: "/no/such/browser", PATH: "/nowhere" } }),
    shown(argv, { stdin }),
  ]);
  expect(asked).toMatchSnapshot();
  expect(without).toMatchSnapshot();
  // Input from a pipe is not read if a browser opens.
  expect(opened).not.toContain("Paste");
});

test("login can be interrupted while it waits for the person", async () => {
  await using server = await oauthFixture({ person: "away" });
  configure({ guarded: { url: server.url } });
  const interrupted = new AbortController();
  const signingIn = auth(["login", "guarded"], { interrupted: interrupted.signal });
  await eventually(async () => (await server.stats()).authorizations.length > 0);
  interrupted.abort();
  const { exitCode, stdout, stderr } = await signingIn;
  expect([exitCode, stdout]).toEqual([130, ""]);
  expect(steady(stderr)).toMatchSnapshot();
});

describe("login by a code", () => {
  const remote = { SSH_CONNECTION: "10.0.0.1 1 10.0.0.2 22", BROWSER: "none" };

  /** Signs in while a person enters the code on another machine. */
  async function withCode(provider: DeviceProvider, argv: string[], options: CliOptions = {}): Promise<string> {
    const before = provider.codes.length;
    const signingIn = auth(["login", "far", ...argv], options);
    await provider.enter(await eventually(() => provider.codes[before]));
    const text = page(["auth", "login", "far", ...argv], await signingIn, folder.path);
    return steady(text)
      .replaceAll(/\b[A-Z]{4}-[A-Z]{4}\b/g, "CODE-CODE")
      .replace(/"expiresAt":\d+/, '"expiresAt":TIME');
  }

  test("shows the page and the code, and is what a user over SSH gets", async () => {
    await using provider = await deviceProvider();
    configure({ far: { url: provider.url } });
    const pages = [
      await withCode(provider, ["--device"]),
      await withCode(provider, ["--device", "--force", "--json"]),
      await withCode(provider, ["--force"], { env: remote }),
    ];
    expect(pages.join("\n")).toMatchSnapshot();
  });

  test("is not what a user with a browser gets, over SSH or not", async () => {
    await using provider = await deviceProvider();
    configure({ far: { url: provider.url } });
    const seen = { ...remote, DISPLAY: ":10" };
    for (const [argv, env] of [
      [[], seen],
      [[], {}],
      [["--no-browser"], remote],
    ] as const) {
      await auth(["login", "far", "--timeout", "1s", ...argv], { env });
    }
    expect(provider.codes).toEqual([]);
  });

  test("where it is not offered, a redirect is pasted, or the error says so", async () => {
    await using server = await oauthFixture({ person: "away" });
    configure({ far: { url: server.url } });
    const argv = ["login", "far", "--timeout", "1s"];
    expect(await shown(argv, { env: remote })).toContain("copy the full address");
    expect(await shown([...argv, "--device"])).toMatchSnapshot();
    expect(await shown([...argv, "--device", "--no-browser"])).toMatchSnapshot();
  });
});
