/** Sign-ins with the executable as a real process: into it with a browser or a pasted address, used by others, and out again. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { executable } from "../support/claudikins.ts";
import { eventually } from "../support/eventually.ts";
import { networkFixture } from "../support/network.ts";
import { type OAuthFixture, oauthFixture } from "../support/oauth.ts";
import { ownFolder } from "../support/own-folder.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { addressIn, browserCommand, redirectOf, steady } from "../support/sign-in.ts";

// The first test builds the executable.
setDefaultTimeout(60_000);

const folder = ownFolder();

const credentials = () => join(folder.path, "home", "data", "claudikins", "credentials.json");

/** A project whose config has the server. */
function configure(server: OAuthFixture, more: object = {}): void {
  folder.write("project/claudikins.json", { mcpServers: { guarded: { url: server.url, ...more } } });
}

const environment = () => ({
  CLAUDIKINS_LOG: "debug",
  XDG_DATA_HOME: join(folder.path, "home", "data"),
  BROWSER: browserCommand(join(folder.path, "page.html")),
});

const project = () => join(folder.path, "project");

const run = (argv: string[], env: Record<string, string> = {}) =>
  runProgram([executable(), ...argv], { cwd: project(), env: { ...environment(), ...env } });

const call = (tool: string) => run(["exec", "--json", "-e", `return guarded.${tool}({ a: 1 })`]);

/** A login in its own process that waits for a person, with its output. */
function startLogin(argv: string[], { env = {} }: { env?: Record<string, string> } = {}) {
  const child = Bun.spawn([executable(), "auth", "login", "guarded", ...argv], {
    cwd: project(),
    env: testEnvironment({ ...environment(), ...env }),
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const said = { stderr: "" };
  const address = Promise.withResolvers<string>();
  const reading = (async () => {
    for await (const chunk of child.stderr) {
      said.stderr += new TextDecoder().decode(chunk);
      const found = addressIn(said.stderr);
      if (found) address.resolve(found);
    }
    address.reject(new Error(said.stderr));
  })();
  return {
    child,
    address: address.promise,
    paste: (text: string) => {
      child.stdin.write(text);
      child.stdin.flush();
    },
    ended: async () => {
      const stdout = await child.stdout.text();
      await Promise.all([child.exited, reading]);
      return { exitCode: child.exitCode, stdout, stderr: said.stderr };
    },
  };
}

const portOf = (authorizationUrl: string) =>
  Number(new URL(new URL(authorizationUrl).searchParams.get("redirect_uri") ?? "").port);

const listens = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true));
    socket.once("error", () => resolve(false)).once("connect", () => socket.destroy());
  });

/** Every file below a folder, as one text. */
const textBelow = (path: string) =>
  (readdirSync(path, { recursive: true, withFileTypes: true }) as import("node:fs").Dirent[])
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
    .join("\n");

test("login, a call and logout work with a browser; secrets are only in one private file", async () => {
  await using server = await oauthFixture();
  configure(server);
  const before = await call("echo");
  expect(before.exitCode).toBe(3);
  expect(JSON.parse(before.stderr.split("\n").find((line) => line.startsWith('{"error"')) ?? "")).toMatchObject({
    error: { code: "AUTH_REQUIRED", hint: "claudikins auth login guarded" },
  });
  const login = await run(["auth", "login", "guarded"]);
  expect(login).toMatchObject({ exitCode: 0, stdout: "Signed in to guarded: 2 tools\n" });
  const after = await call("echo");
  expect(JSON.parse(after.stdout)).toMatchObject({ value: { a: 1 } });
  const status = await run(["auth", "status", "guarded", "--json"]);
  const listed = await run(["list", "--check", "--json"]);

  const secrets = await server.secrets();
  expect(secrets.length).toBeGreaterThan(3);
  const said = [before, login, after, status, listed].map(({ stdout, stderr }) => stdout + stderr).join("\n");
  const project = textBelow(join(folder.path, "project"));
  for (const secret of secrets) {
    expect(said).not.toContain(secret);
    expect(project).not.toContain(secret);
  }
  // The test looked in the right folder.
  const kept = readFileSync(credentials(), "utf8");
  expect(secrets.filter((secret) => kept.includes(secret)).map((secret) => secret.split("-")[0])).toEqual([
    "access",
    "refresh",
  ]);
  if (process.platform !== "win32") {
    expect(statSync(credentials()).mode & 0o777).toBe(0o600);
    expect(statSync(join(credentials(), "..")).mode & 0o777).toBe(0o700);
  }

  expect(await run(["auth", "logout", "guarded"])).toMatchObject({ exitCode: 0, stdout: "Signed out of guarded\n" });
  const left = textBelow(join(credentials(), ".."));
  for (const secret of secrets) expect(left).not.toContain(secret);
  expect((await call("echo")).exitCode).toBe(3);
  expect((await run(["auth", "status", "guarded"])).exitCode).toBe(3);
  expect(await server.stats()).toMatchObject({ revocations: 1, problems: [] });
});

describe("a pasted address", () => {
  test("is accepted from a pipe, even after a wrong one", async () => {
    await using server = await oauthFixture();
    configure(server);
    const login = startLogin(["--no-browser"], { env: { CLAUDIKINS_LOG: "" } });
    const redirect = await redirectOf(await login.address);
    login.paste(`"${redirect.replace(/state=[^&]+/, "state=another")}"\n`);
    login.paste(`${new URL(redirect).searchParams.get("code")}\n`);
    login.paste(`  "${redirect}"  \n`);
    const { exitCode, stdout, stderr } = await login.ended();
    expect(stdout).toBe("Signed in to guarded: 2 tools\n");
    expect(steady(stderr)).toMatchSnapshot();
    expect(exitCode).toBe(0);
    expect((await server.stats()).problems).toEqual([]);
    expect(JSON.parse((await call("echo")).stdout)).toMatchObject({ value: { a: 1 } });
  });

  test("is accepted at a terminal, where Ctrl-C ends the login", async () => {
    await using server = await oauthFixture();
    configure(server);
    const watched = (argv: string[], env: Record<string, string> = {}) => {
      const said = { text: "" };
      const address = Promise.withResolvers<string>();
      const child = Bun.spawn([executable(), "auth", "login", "guarded", ...argv], {
        cwd: project(),
        env: testEnvironment({ ...environment(), CLAUDIKINS_LOG: "", ...env }),
        terminal: {
          cols: 1_000,
          data(_, bytes) {
            said.text += new TextDecoder().decode(bytes).replaceAll("\r", "");
            const found = addressIn(said.text);
            if (found) address.resolve(found);
          },
        },
      });
      return { child, said, address: address.promise };
    };
    const login = watched(["--no-browser"]);
    login.child.terminal?.write(`${await redirectOf(await login.address)}\r`);
    expect(await login.child.exited).toBe(0);
    expect(login.said.text).toContain("Signed in to guarded: 2 tools\n");
    // A browser opened, but on another machine.
    await server.change({ person: "away" });
    const other = watched(["--force"]);
    await other.address;
    await eventually(() => existsSync(join(folder.path, "page.html")));
    await server.change({ person: "agrees" });
    other.child.terminal?.write(`nonsense\r${await redirectOf(await other.address)}\r`);
    expect(await other.child.exited).toBe(0);
    expect(other.said.text).toContain("A code alone is not enough");
    const given = watched(["--no-browser", "--force"]);
    const port = portOf(await given.address);
    given.child.terminal?.write("\u0003");
    expect(await given.child.exited).toBe(130);
    expect(await listens(port)).toBe(false);
  });

  test("is accepted as the last line of a pipe", async () => {
    await using server = await oauthFixture();
    configure(server);
    const login = startLogin(["--no-browser"]);
    login.paste(await redirectOf(await login.address));
    login.child.stdin.end();
    expect(await login.ended()).toMatchObject({ exitCode: 0, stdout: "Signed in to guarded: 2 tools\n" });
  });

  test("is not needed if the browser reaches the listener", async () => {
    await using server = await oauthFixture();
    configure(server);
    const login = startLogin(["--no-browser"]);
    const page = await fetch(await login.address);
    expect(await page.text()).toContain("<h1>Signed in to guarded</h1>");
    expect(await login.ended()).toMatchObject({ exitCode: 0, stdout: "Signed in to guarded: 2 tools\n" });
  });

  test("is used once, and a second request gets the same page", async () => {
    await using server = await oauthFixture({ tokenDelayMs: 500 });
    configure(server);
    const login = startLogin(["--no-browser"]);
    const redirect = await redirectOf(await login.address);
    const pages = Promise.all([fetch(redirect), fetch(redirect)]);
    login.paste(`${redirect}\n`);
    for (const page of await pages) expect(await page.text()).toContain("<h1>Signed in to guarded</h1>");
    expect((await login.ended()).exitCode).toBe(0);
    expect(await server.stats()).toMatchObject({ tokenRequests: { authorization_code: 1 }, problems: [] });
  });

  test("is not waited for if stdin cannot be read", async () => {
    await using server = await oauthFixture({ person: "away" });
    configure(server);
    const login = `exec "$0" auth login guarded --no-browser --timeout 1s`;
    for (const stdin of ["</dev/null", "<&-", `<${folder.path}`, "</dev/zero"]) {
      const { exitCode, stderr } = await runProgram(["sh", "-c", `${login} ${stdin}`, executable()], {
        cwd: project(),
        env: { ...environment(), CLAUDIKINS_LOG: "" },
      });
      expect([stdin, exitCode, stderr.match(/^error: .*|EISDIR/gm)]).toEqual([
        stdin,
        3,
        ['error: Nobody signed in to "guarded" within 1 s'],
      ]);
    }
  });

  test("is asked for without a browser, over SSH, and if the browser fails", async () => {
    await using server = await oauthFixture();
    configure(server);
    const machines: Record<string, string>[] = [
      { BROWSER: "" },
      { BROWSER: "", DISPLAY: ":7", SSH_CONNECTION: "10.0.0.1 22 10.0.0.2 22" },
      { BROWSER: "/bin/false", PATH: "/nowhere" },
    ];
    for (const env of machines) {
      const login = startLogin(["--force"], { env });
      login.paste(`${await redirectOf(await login.address)}\n`);
      const { stdout, stderr } = await login.ended();
      expect([env, stdout]).toEqual([env, "Signed in to guarded: 2 tools\n"]);
      expect(stderr).toContain("paste it here");
    }
  });
});

test("login uses the same port as the last time, or another one if it is taken", async () => {
  await using server = await oauthFixture();
  configure(server);
  const ports: number[] = [];
  const login = async () => {
    const started = startLogin(["--no-browser", "--force"]);
    const address = await started.address;
    ports.push(portOf(address));
    await fetch(address);
    expect((await started.ended()).exitCode).toBe(0);
  };
  await login();
  await login();
  expect(ports[1]).toBe(ports[0]!);
  using _ = Bun.listen({ hostname: "127.0.0.1", port: ports[0]!, socket: { data() {} } });
  await login();
  expect(ports[2]).not.toBe(ports[0]!);
  // Registered once, and again for the other port.
  expect(await server.stats()).toMatchObject({ registrations: 2, problems: [] });
});

test("login of a preregistered client uses only its configured port", async () => {
  const taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = taken;
  const clients = [{ id: "by-hand", secret: "hidden-1", redirectUris: [`http://127.0.0.1:${port}/callback`] }];
  await using server = await oauthFixture({ registration: false, clients });
  configure(server, { oauth: { clientId: "by-hand", clientSecret: "hidden-1", callbackPort: port } });
  const refused = await run(["auth", "login", "guarded"], { CLAUDIKINS_LOG: "" });
  expect([refused.exitCode, refused.stderr.replaceAll(String(port), "PORT")]).toMatchSnapshot();
  taken.stop();
  const login = await run(["auth", "login", "guarded"]);
  expect(login).toMatchObject({ exitCode: 0, stdout: "Signed in to guarded: 2 tools\n" });
  expect(login.stderr).not.toContain("hidden-1");
  expect((await server.stats()).problems).toEqual([]);
});

test("a running serve uses a new sign-in without a restart", async () => {
  await using server = await oauthFixture();
  configure(server);
  const client = new Client({ name: "host", version: "1" });
  const transport = new StdioClientTransport({
    command: executable(),
    args: ["serve"],
    cwd: project(),
    env: testEnvironment(environment()),
    stderr: "ignore",
  });
  await client.connect(transport);
  try {
    const execute = async () => {
      const result = await client.callTool({
        name: "execute_code",
        arguments: { code: "return guarded.echo({ a: 1 })" },
      });
      return JSON.stringify(result.content);
    };
    expect(await execute()).toContain("claudikins auth login guarded");
    expect((await run(["auth", "login", "guarded"])).exitCode).toBe(0);
    expect(await execute()).toContain('\\"a\\": 1');
    expect((await run(["auth", "logout", "guarded"])).exitCode).toBe(0);
    expect(await execute()).toContain("claudikins auth login guarded");
    expect((await run(["auth", "login", "guarded"])).exitCode).toBe(0);
    expect(await execute()).toContain('\\"a\\": 1');
  } finally {
    await client.close();
  }
  expect((await server.stats()).problems).toEqual([]);
});

test("a tool that needs more rights fails, and the next login asks for all rights", async () => {
  await using server = await oauthFixture({
    challengeScopes: ["read"],
    scopesSupported: ["read", "write"],
    toolScopes: { write: "write" },
  });
  configure(server);
  expect((await run(["auth", "login", "guarded"])).stdout).toBe("Signed in to guarded: 3 tools\n");
  const refused = await call("write");
  expect(refused.exitCode).toBe(3);
  expect(refused.stderr).toContain("claudikins auth login guarded");
  // Calls that need no more rights still work.
  expect((await call("echo")).exitCode).toBe(0);
  expect((await run(["auth", "login", "guarded"])).stdout).toBe("Signed in to guarded: 3 tools\n");
  expect(JSON.parse((await call("write")).stdout)).toMatchObject({ value: { a: 1 } });
  expect((await run(["auth", "login", "guarded"])).stdout).toBe("Already signed in to guarded: 3 tools\n");
  const { authorizations, problems } = await server.stats();
  expect(authorizations.map(({ scope }) => scope.split(" ").sort().join(" "))).toEqual(["read", "read write"]);
  expect(problems).toEqual([]);
});

test("client credentials sign in without a person", async () => {
  const clients = [{ id: "machine", secret: "hidden-2" }];
  await using server = await oauthFixture({ registration: false, clients });
  configure(server, { oauth: { grant: "client_credentials", clientId: "machine", clientSecret: "hidden-2" } });
  const env = { BROWSER: "/bin/false" };
  expect(await run(["auth", "login", "guarded"], env)).toMatchObject({
    exitCode: 0,
    stdout: "Signed in to guarded: 2 tools\n",
  });
  expect(await run(["auth", "login", "guarded", "--force"], env)).toMatchObject({
    exitCode: 0,
    stdout: "Signed in to guarded: 2 tools\n",
  });
  expect((await call("echo")).exitCode).toBe(0);
  expect((await server.stats()).problems).toEqual([]);
});

describe.each(["SIGINT", "SIGTERM"] as const)("%s ends a login", (signal) => {
  test.each(["--no-browser", "--force"])("while it waits for the person (%s), and closes its port", async (flag) => {
    await using server = await oauthFixture({ person: "away" });
    configure(server);
    const login = startLogin([flag]);
    const port = portOf(await login.address);
    expect(await listens(port)).toBe(true);
    login.child.kill(signal);
    const { exitCode, stdout } = await login.ended();
    expect([exitCode, stdout]).toEqual([130, ""]);
    expect(await listens(port)).toBe(false);
  });
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s ends a login while a server or an authorization server does not answer",
  async (signal) => {
    await using silent = await networkFixture("silent");
    folder.write("project/claudikins.json", {
      mcpServers: { guarded: { url: `http://127.0.0.1:${silent.port}/mcp` } },
    });
    const asking = startLogin([]);
    asking.address.catch(() => {});
    await silent.saw("POST -");
    asking.child.kill(signal);
    expect(await asking.ended()).toMatchObject({ exitCode: 130, stdout: "" });

    await using server = await oauthFixture({ tokenDelayMs: 60_000 });
    configure(server);
    const login = startLogin(["--no-browser"]);
    const address = await login.address;
    const page = fetch(address).catch(() => {});
    await eventually(async () => (await server.stats()).tokenRequests["authorization_code"] !== undefined);
    login.child.kill(signal);
    expect(await login.ended()).toMatchObject({ exitCode: 130, stdout: "" });
    expect(await listens(portOf(address))).toBe(false);
    await page;
  },
);

test("two concurrent logins both succeed", async () => {
  await using server = await oauthFixture();
  configure(server);
  const logins = [startLogin(["--no-browser"]), startLogin(["--no-browser"])];
  const addresses = await Promise.all(logins.map(({ address }) => address));
  expect(new Set(addresses.map(portOf)).size).toBe(2);
  for (const address of addresses) expect(await (await fetch(address)).text()).toContain("Signed in to guarded");
  for (const login of logins) expect((await login.ended()).exitCode).toBe(0);
  expect((await call("echo")).exitCode).toBe(0);
  expect((await server.stats()).problems).toEqual([]);
});

test("a killed login leaves nothing behind, and the next one succeeds", async () => {
  await using server = await oauthFixture();
  configure(server);
  const login = startLogin(["--no-browser"]);
  await login.address;
  login.child.kill("SIGKILL");
  await login.ended();
  expect((await run(["auth", "login", "guarded"])).exitCode).toBe(0);
});
