/** doctor: servers that answer or fail, and their sign-ins. */
import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { answered } from "../../../src/cli/doctor/servers.ts";
import { loadConfig, type NetworkServer } from "../../../src/config/load.ts";
import { CredentialStore, type Tokens } from "../../../src/servers/auth/credentials.ts";
import { eventually } from "../../support/eventually.ts";
import { oauthFixture } from "../../support/oauth.ts";
import { processesWith } from "../../support/process.ts";
import { fixture } from "../../support/servers.ts";
import { patient } from "./patient.ts";

const home = patient();
const { at, run, doctor, configure } = home;

describe("servers", () => {
  test("are started concurrently, and each finding names its fix", async () => {
    await using oauth = await oauthFixture();
    configure({
      odd: fixture("odd", home.folder.path),
      crashes: { ...fixture("crash-on-start", home.folder.path), env: { API_TOKEN: "s3cret-value-0815" } },
      slow: { ...fixture("never-starts", home.folder.path), startTimeoutMs: 1_000 },
      "signed out": { url: oauth.url },
      closed: { ...fixture("crash-on-start", home.folder.path), deny: ["*"] },
    });
    const { of, exitCode, findings } = await doctor([]);
    expect(exitCode).toBe(4);
    expect(findings.filter(({ id }) => id.startsWith("server.")).map(({ id }) => id)).toEqual(
      ["odd", "crashes", "slow", "signed out", "closed"].map((name) => `server.${name}`),
    );
    const { message, ...odd } = of("server.odd") ?? {};
    expect(odd).toEqual({
      state: "ok",
      startMs: expect.any(Number),
      listMs: expect.any(Number),
      tools: 14,
      protocol: "2025-11-25",
      version: "1",
    });
    expect(message).toMatch(/^odd: 14 tools, started in [\d.]+ m?s, listed in [\d.]+ m?s, MCP 2025-11-25$/);
    expect(of("server.crashes")).toEqual({
      state: "problem",
      message: 'Server "crashes" did not start: its process exited with code 3',
      details: ["| warming up", "| fatal: no database at db://nowhere"],
      repair: "Run its command from the config by hand to see more.",
      code: "SERVER_UNAVAILABLE",
    });
    expect(of("server.slow")).toMatchObject({
      state: "problem",
      message: 'Server "slow" did not start: it did not answer within 1 s',
      code: "SERVER_UNAVAILABLE",
    });
    expect(of("server.signed out")).toMatchObject({
      state: "problem",
      repair: "claudikins auth login 'signed out'",
      code: "AUTH_REQUIRED",
    });
    expect(of("server.closed")).toEqual({
      state: "ok",
      message: "closed is not started: the config denies all its tools",
    });
    expect(JSON.stringify(findings)).not.toContain("s3cret-value-0815");
  });

  test("servers that never answer do not add up their time limits, and progress is shown", async () => {
    const slow = { ...fixture("never-starts", home.folder.path), startTimeoutMs: 7_000 };
    const many = Object.fromEntries(Array.from({ length: 10 }, (_, place) => [`slow${place}`, slow]));
    configure({ ...many, quick: fixture("seen", home.folder.path) });
    const { stderr } = await run(["doctor"], { terminal: true });
    expect(stderr).toMatch(/ 1\/11 servers quick[\s\S]* 11\/11 servers slow/);
  });

  test("a project's servers run in its folder, even if doctor runs in a subfolder", async () => {
    home.folder.write("started.sh", `pwd > ${at("pwd")}; exit 1`);
    configure({ shell: { command: "sh", args: ["started.sh"] } });
    mkdirSync(at("src/deep"), { recursive: true });
    const { of } = await doctor([], { cwd: at("src/deep"), env: { HOME: home.folder.path } });
    expect(of("server.shell")?.state).toBe("problem");
    expect(readFileSync(at("pwd"), "utf8")).toBe(`${home.folder.path}\n`);
  });

  test("a server that needs a sign-in makes doctor exit with code 3", async () => {
    await using oauth = await oauthFixture();
    configure({ tracker: { url: oauth.url } });
    const { ok, of, exitCode } = await doctor([]);
    expect([ok, exitCode, of("server.tracker")?.repair]).toEqual([false, 3, "claudikins auth login tracker"]);
  });

  test("a server that answers may still have a warning", () => {
    const server = { name: "a", startTimeoutMs: 30_000 };
    expect(answered(server, { startMs: 200, listMs: 3, tools: 1 })).toMatchObject({
      state: "ok",
      message: "a: 1 tool, started in 200 ms, listed in 3 ms",
    });
    expect(answered(server, { startMs: 20_000, listMs: 3, tools: 2 })).toMatchObject({
      state: "warning",
      message: "a: 2 tools, started in 20 s, listed in 3 ms: the time limit for the start is 30 s",
      repair: 'Raise "startTimeoutMs" of "a" in the config.',
    });
    expect(answered(server, { startMs: 200, listMs: 3, tools: 0 })).toMatchObject({ state: "warning" });
  });

  test("are all ended by an interruption", async () => {
    configure({ slow: { ...fixture("never-starts", home.folder.path), startTimeoutMs: 60_000 } });
    const interrupted = new AbortController();
    const answer = run(["doctor", "--json"], { interrupted: interrupted.signal });
    await eventually(() => processesWith(home.folder.path).length > 0);
    interrupted.abort();
    expect((await answer).exitCode).toBe(130);
  });
});

describe("sign-ins", () => {
  const day = 86_400_000;

  /** Stores a sign-in. */
  async function signedIn(name: string, tokens: Partial<Tokens>): Promise<string> {
    const env = { HOME: home.folder.path, CI: "true" };
    const { servers } = await loadConfig({ cwd: home.folder.path, env });
    const file = at(".local/share/claudikins/credentials.json");
    const all = { access: "of-nobody", scopes: [], since: 0, obtainedAt: 0, ...tokens };
    await new CredentialStore(file).update(servers.get(name) as NetworkServer, () => ({ server: name, tokens: all }));
    return file;
  }

  test("are reported with their remaining time", async () => {
    configure(
      Object.fromEntries(
        ["ended", "soon", "long", "renewed", "none"].map((name) => [name, { url: "https://example.com/mcp" }]),
      ),
    );
    await signedIn("ended", { expiresAt: Date.now() - 2 * 3_600_000 });
    await signedIn("soon", { expiresAt: Date.now() + 3_600_000 });
    await signedIn("long", { expiresAt: Date.now() + 30 * day });
    await signedIn("renewed", { expiresAt: Date.now() - day, refresh: "of-nobody-0815" });
    const { of, exitCode } = await doctor();
    expect(exitCode).toBe(3);
    expect(of("sign-in.ended")).toEqual({
      state: "problem",
      message: expect.stringMatching(/^The sign-in to "ended" expired \d h ago$/),
      repair: "claudikins auth login ended",
      code: "AUTH_REQUIRED",
    });
    expect(of("sign-in.soon")).toMatchObject({
      state: "warning",
      message: expect.stringMatching(/^Signed in to "soon" for another 60 min; the sign-in cannot be renewed$/),
      repair: "claudikins auth login soon",
    });
    expect(of("sign-in.long")?.state).toBe("ok");
    expect(of("sign-in.renewed")).toEqual({ state: "ok", message: 'Signed in to "renewed", renewed automatically' });
    expect(of("sign-in.none")).toBeUndefined();
  });

  test("are reported if their file is damaged or readable by others", async () => {
    configure({ long: { url: "https://example.com/mcp" } });
    const file = await signedIn("long", {});
    expect((await doctor()).of("sign-ins.file")).toBeUndefined();
    chmodSync(file, 0o640);
    expect((await doctor()).of("sign-ins.file")).toEqual({
      state: "warning",
      message: "Other users of this machine can read your sign-ins",
      repair: "chmod 600 FOLDER/.local/share/claudikins/credentials.json",
    });
    home.folder.write(".local/share/claudikins/credentials.json", "{");
    expect((await doctor()).of("sign-ins.file")).toMatchObject({
      state: "problem",
      details: ["Then sign in again: claudikins auth login"],
      repair:
        "mv FOLDER/.local/share/claudikins/credentials.json FOLDER/.local/share/claudikins/credentials.json.damaged",
    });
  });
});
