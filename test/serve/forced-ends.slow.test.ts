/** Requests that are ended by force: each gets an answer, whatever era its client is of, and whichever replica it has reached. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { eventsOf, executeRequest, type HttpServe, json, rawSession } from "../support/http-serve.ts";
import { envelope, modernVersion } from "../support/modern-host.ts";
import { ownFolder } from "../support/own-folder.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../support/postgres.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { openReplicas } from "../support/replicas.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(120_000);

const folder = ownFolder();

/** Says in a file that it has begun. */
const endless = (name: string) => `fs.writeFileSync("./workspace/${name}", ""); await sleep(100_000)`;
const hasBegun = (name: string) => existsSync(join(folder.path, ".claudikins/workspace", name));

interface Ending {
  status: number;
  id?: unknown;
  error?: { message: string } | undefined;
}

/** The first answer in a response. Nothing in it means that the stream has ended without one. */
async function endOf(response: Response): Promise<Ending> {
  const { status } = response;
  if (response.headers.get("content-type")?.startsWith("application/json")) {
    return { status, ...((await response.json()) as Omit<Ending, "status">) };
  }
  for await (const { message } of eventsOf(response)) {
    if (message && !message.method) return { status, id: message.id, error: message.error as Ending["error"] };
  }
  return { status };
}

describe.skipIf(postgresNote !== "")(`forced ends${postgresNote}`, () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const open = async () => {
    folder.write("claudikins.json", { mcpServers: { asker: fixture("protocol", "stdio", folder.path) } });
    return openReplicas(folder, server, 2, { token: "kept" });
  };

  /** `claudikins` beside the replicas. */
  const claudikins = (database: string, ...argv: string[]) =>
    runProgram([...claudikinsCommand, ...argv], {
      cwd: folder.path,
      env: testEnvironment({ XDG_DATA_HOME: join(folder.path, "data-0"), CLAUDIKINS_DATABASE: database }),
    });

  const tokenOf = async (database: string, { url }: HttpServe, other: HttpServe, name: string) => {
    const { stdout } = await claudikins(database, "tokens", "add", "--name", name);
    const authorization = `Bearer ${stdout.trim()}`;
    const isKnown = async (at: string) =>
      (await fetch(at, { method: "POST", headers: { authorization } })).status !== 401;
    for (const at of [url, other.url]) await eventually(() => isKnown(at), { withinMs: 5_000, everyMs: 100 });
    return { authorization };
  };

  const modernPost = ({ url }: HttpServe, headers: Record<string, string>, code: string, meta: object = {}) =>
    fetch(url, {
      method: "POST",
      headers: {
        ...json,
        ...headers,
        "mcp-protocol-version": modernVersion,
        "mcp-method": "tools/call",
        "mcp-name": "execute_code",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 77,
        method: "tools/call",
        params: { name: "execute_code", arguments: { code }, _meta: { ...envelope(), ...meta } },
      }),
    });

  test("a revoked token's open requests get errors with their ids, here and when they were passed on", async () => {
    await using set = await open();
    const [a, b] = set.all as [HttpServe, HttpServe];
    const headers = await tokenOf(set.database, a, b, "ann");
    const names: string[] = [];
    const running: Promise<Ending>[] = [];
    const begin = (name: string, response: (code: string) => Promise<Response>) => {
      names.push(name);
      running.push(response(endless(name)).then(endOf));
    };
    for (const version of ["2025-03-26", "2025-11-25"]) {
      const session = await rawSession(a.url, version, {}, `raw ${version}`, headers);
      begin(`here-${version}`, (code) => session.post(executeRequest(7, code)));
      const there = { ...json, ...headers, "mcp-session-id": session.id, "mcp-protocol-version": version };
      begin(`passed-${version}`, (code) =>
        fetch(b.url, { method: "POST", headers: there, body: JSON.stringify(executeRequest(8, code)) }),
      );
    }
    begin("modern", (code) => modernPost(a, headers, code));
    begin("modern-progress", (code) => modernPost(a, headers, code, { progressToken: "p" }));
    await eventually(() => names.every(hasBegun));
    await claudikins(set.database, "tokens", "revoke", "ann");
    const ends = await Promise.all(running);
    expect(ends.map(({ id }) => id)).toEqual([7, 8, 7, 8, 77, 77]);
    for (const { error } of ends) expect(error?.message).toContain("The token is no longer valid");
  });

  test("a client that cannot resume learns at once that the replica with its request was killed", async () => {
    await using set = await open();
    const [a, b] = set.all as [HttpServe, HttpServe];
    const headers = await tokenOf(set.database, a, b, "bob");
    const version = "2025-03-26";
    const session = await rawSession(a.url, version, {}, "raw", headers);
    const there = { ...json, ...headers, "mcp-session-id": session.id, "mcp-protocol-version": version };
    const body = JSON.stringify([executeRequest(8, endless("killed")), executeRequest(9, endless("killed-too"))]);
    const running = fetch(b.url, { method: "POST", headers: there, body }).then(async (response) => {
      const ends: unknown[] = [];
      for await (const { message } of eventsOf(response)) ends.push([message?.id, message?.error]);
      return ends;
    });
    await eventually(() => hasBegun("killed") && hasBegun("killed-too"));
    a.signal("SIGKILL" as "SIGTERM");
    const lost = expect.objectContaining({ message: expect.stringContaining("the answer is lost") });
    expect(await running).toEqual([
      [8, lost],
      [9, lost],
    ]);
  });
});
