/** Sign-ins that the machines of a team share in a Postgres. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Seal } from "../../src/base/seal.ts";
import type { Environment } from "../../src/config/environment.ts";
import { credentialsFile, personCredentialsFile } from "../../src/config/locations.ts";
import { CredentialStore } from "../../src/servers/auth/credentials.ts";
import { sealingKeysOf } from "../../src/servers/auth/seal.ts";
import { beginSignIn } from "../../src/servers/auth/sign-in.ts";
import { signInStore } from "../../src/servers/auth/sign-in-store.ts";
import { readDocuments } from "../../src/store/open.ts";
import { PostgresDocuments } from "../../src/store/postgres/documents.ts";
import { rejection } from "../store/contract/rejection.ts";
import { eventually } from "../support/eventually.ts";
import { oauthFixture } from "../support/oauth.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../support/postgres.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { serverOf } from "./auth-harness.ts";

setDefaultTimeout(60_000);

const redirectUrl = new URL("http://127.0.0.1:9/callback");

describe.skipIf(postgresNote !== "")(`sign-ins of a team${postgresNote}`, () => {
  let postgres: PostgresFixture;
  let folder: TemporaryFolder;
  let env: Record<string, string>;
  let close: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    postgres = await postgresFixture();
  });
  afterAll(() => postgres[Symbol.asyncDispose]());
  beforeEach(async () => {
    folder = temporaryFolder();
    env = {
      XDG_DATA_HOME: join(folder.path, "data-0"),
      CLAUDIKINS_DATABASE: await postgres.database(),
      CLAUDIKINS_SEALING_KEY: randomBytes(32).toString("base64"),
    };
    close = await readDocuments(env);
  });
  afterEach(async () => {
    await close?.();
    folder[Symbol.dispose]();
  });

  const storeOf = (environment: Environment = env) => signInStore(credentialsFile(environment), { env: environment });

  async function signIn(url: string, store: CredentialStore): Promise<void> {
    const options = { redirectUrl, env, signal: AbortSignal.timeout(60_000) };
    const begun = await beginSignIn(serverOf("far", { url }), store, options);
    const page = await fetch(begun!.authorizationUrl, { redirect: "manual" });
    await begun!.finish(new URL(page.headers.get("location")!));
  }

  /** The rows, as a dump of the table has them. */
  const dumped = async () =>
    JSON.stringify(await postgres.run(env["CLAUDIKINS_DATABASE"]!, "SELECT * FROM claudikins.documents"));

  /** A machine of the team, with a data folder of its own, which calls a tool four times at once. */
  function caller(number: number, url: string) {
    const own = { ...env, XDG_DATA_HOME: join(folder.path, `data-${number}`) };
    return Bun.spawn([process.execPath, join(import.meta.dir, "auth-caller.ts"), credentialsFile(own), url, "4"], {
      env: { ...process.env, ...own },
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    });
  }

  test("are used by all machines, and renewed once for all: a refresh token that is used twice would end the sign-in", async () => {
    await using server = await oauthFixture({ refreshDelayMs: 300, rotation: true });
    await signIn(server.url, await storeOf());
    const callers = [1, 2].map((number) => caller(number, server.url));
    const outputs = callers.map(({ stdout }) => stdout.getReader());
    const texts = callers.map(() => "");
    for (const [index, reader] of outputs.entries()) {
      while (!texts[index]!.includes("ready\n")) {
        const { value, done } = await reader.read();
        if (done) throw new Error(await callers[index]!.stderr.text());
        texts[index] += new TextDecoder().decode(value);
      }
    }
    await server.change({ expireTokens: true });
    for (const { stdin } of callers) await stdin.end();
    for (const [index, reader] of outputs.entries()) {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        texts[index] += new TextDecoder().decode(value);
      }
    }
    expect(await Promise.all(callers.map(({ stderr }) => stderr.text()))).toEqual(["", ""]);
    expect(texts).toEqual(Array.from({ length: 2 }, () => `ready\n${"ok\n".repeat(4)}`));
    expect(await server.stats()).toMatchObject({ refreshes: 1, reused: 0, tokenRequests: { refresh_token: 1 } });
    const text = await dumped();
    expect(text).toContain("sealed");
    expect((await server.secrets()).filter((secret) => text.includes(secret))).toEqual([]);
  });

  test("are refused without a key, before a person is asked, and the error says how to make one", async () => {
    await using server = await oauthFixture();
    const { CLAUDIKINS_SEALING_KEY: _, ...without } = env;
    const error = await rejection(signIn(server.url, await storeOf(without)));
    expect(error).toMatchObject({
      code: "NEEDS_VARIABLE",
      message: "The sign-ins in the database need CLAUDIKINS_SEALING_KEY in the environment",
      hint: "To make a key: openssl rand -base64 32. Give it in CLAUDIKINS_SEALING_KEY, or with auth.sealingKeyFile.",
    });
    expect((await server.stats()).authorizations).toEqual([]);
    expect(await dumped()).toBe("[]");
  });

  test("cannot be opened by a machine with another key, which says so", async () => {
    await using server = await oauthFixture();
    await signIn(server.url, await storeOf());
    const other = await storeOf({ ...env, CLAUDIKINS_SEALING_KEY: randomBytes(32).toString("base64") });
    await other.ready();
    expect(other.read(serverOf("far", { url: server.url }))).toBeUndefined();
    const { CLAUDIKINS_SEALING_KEY: _, ...without } = env;
    const none = await storeOf(without);
    await none.ready();
    expect(none.whyLocked).toStartWith("their key cannot be used (The sign-ins in the database need");
  });

  test("the credentials of a person are sealed for the person, known to all machines, and removed for all", async () => {
    const person = { config: "/shop/claudikins.json", person: "0123456789abcdef" };
    const server = serverOf("wiki", { url: "https://wiki.example.com/mcp", credentials: "user" });
    const seal = new Seal(sealingKeysOf({ keys: [env["CLAUDIKINS_SEALING_KEY"]!], file: undefined, needs: [] }), "ann");
    const owner = { name: "ann", seal, tokenOf: () => undefined, pageFor: () => undefined };
    const open = (number: number) => {
      const own = { ...env, XDG_DATA_HOME: join(folder.path, `data-${number}`) };
      const documents = new PostgresDocuments(own);
      return {
        documents,
        store: new CredentialStore(personCredentialsFile(person, own), undefined, { owner, documents }),
      };
    };
    const [one, other] = [open(1), open(2)];
    await using _one = one.documents;
    await using _other = other.documents;
    await other.store.ready();
    expect(other.store.read(server)).toBeUndefined();
    await one.store.update(server, () => ({ server: "wiki", keys: { TOKEN: "key-0815-4711" } }));
    await eventually(() => other.store.read(server)?.keys?.["TOKEN"] === "key-0815-4711");
    expect(await dumped()).not.toContain("key-0815-4711");
    const { removeCredentials, serversOfPeople } = await import("../../src/servers/auth/person-files.ts");
    const known = { config: person.config, id: person.person };
    expect(await serversOfPeople([known], env)).toEqual([["wiki"]]);
    await removeCredentials(known, env);
    await eventually(() => other.store.read(server) === undefined);
    expect(await dumped()).toBe("[]");
  });
});
