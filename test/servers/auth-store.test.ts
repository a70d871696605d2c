/** The file of sign-ins: its permissions, concurrent writers, damage, and its lock. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ClaudikinsError } from "../../src/base/errors.ts";
import { withLock } from "../../src/base/lock.ts";
import { CredentialStore, type SignInRecord } from "../../src/servers/auth/credentials.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { serverOf } from "./auth-harness.ts";

setDefaultTimeout(60_000);

let folder = temporaryFolder();
afterEach(() => {
  folder[Symbol.dispose]();
  folder = temporaryFolder();
});

const path = () => join(folder.path, "data", "credentials.json");
const far = serverOf("far", { url: "https://example.com/mcp?key=secret" });
const record = (access: string): SignInRecord => ({
  server: "far",
  issuer: "https://example.com",
  client: { origin: "registered", client_id: "me" },
  tokens: { access, scopes: [], since: 1, obtainedAt: 1 },
});

async function thrown(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

describe("the file of sign-ins", () => {
  test("is private, and no other file is left beside it", async () => {
    const store = new CredentialStore(path());
    expect(store.read(far)).toBeUndefined();
    await store.update(far, () => record("token"));
    expect((statSync(path()).mode & 0o777).toString(8)).toBe("600");
    expect((statSync(join(folder.path, "data")).mode & 0o777).toString(8)).toBe("700");
    expect(readdirSync(join(folder.path, "data")).sort()).toEqual(["credentials.json", "credentials.locks"]);
    expect(readFileSync(path(), "utf8")).not.toContain("secret");
    // The next write restores the file's permissions.
    chmodSync(path(), 0o644);
    await store.update(far, () => record("other"));
    expect((statSync(path()).mode & 0o777).toString(8)).toBe("600");
  });

  test("has one record for each name and URL, without userinfo and fragment", async () => {
    const store = new CredentialStore(path());
    await store.update(far, () => record("token"));
    const at = (name: string, url: string) => store.read(serverOf(name, { url }))?.tokens?.access;
    expect([
      at("far", "https://me:secret@example.com/mcp?key=secret#x"),
      at("far", "https://example.com/mcp?key=other"),
      at("far", "https://example.org/mcp?key=secret"),
      at("near", "https://example.com/mcp?key=secret"),
      at("__proto__", "https://example.com/mcp?key=secret"),
    ]).toEqual(["token", undefined, undefined, undefined, undefined]);
  });

  test("is read again after another process has changed it", async () => {
    const [one, other] = [new CredentialStore(path()), new CredentialStore(path())];
    expect(one.read(far)).toBeUndefined();
    await other.update(far, () => record("first"));
    expect(one.read(far)?.tokens?.access).toBe("first");
    await other.update(far, () => undefined);
    expect(one.read(far)).toBeUndefined();
    expect(JSON.parse(readFileSync(path(), "utf8"))).toEqual({ version: 1, servers: {} });
  });

  test("does not return the tokens of another client than the config's", async () => {
    const store = new CredentialStore(path());
    const ofConfig = (clientId?: string) =>
      serverOf("far", { url: far.url, oauth: { clientId, grant: "authorization_code" } });
    await store.update(far, () => record("registered"));
    expect(store.read(ofConfig())?.tokens?.access).toBe("registered");
    expect(store.read(ofConfig("mine"))).toBeUndefined();
    await store.update(ofConfig("mine"), () => ({
      ...record("of mine"),
      client: { origin: "config", client_id: "mine" },
    }));
    expect(store.read(ofConfig("mine"))?.tokens?.access).toBe("of mine");
    expect(store.read(ofConfig("other"))).toBeUndefined();
    expect(store.read(far)).toBeUndefined();
  });

  test.each(["", "{", "null", "[]", '{"version":0,"servers":{}}', '{"version":1,"servers":null}'])(
    "is kept aside and replaced if it is damaged: %j",
    async (text) => {
      mkdirSync(join(folder.path, "data"));
      writeFileSync(path(), text);
      const said: string[] = [];
      const store = new CredentialStore(path(), (message) => said.push(message));
      expect([store.read(far), store.read(far)]).toEqual([undefined, undefined]);
      await store.update(far, () => record("token"));
      expect(store.read(far)?.tokens?.access).toBe("token");
      expect(readFileSync(`${path()}.damaged`, "utf8")).toBe(text);
      expect(said.map((line) => line.replaceAll(path(), "FILE")).slice(0, 1)).toEqual([
        "FILE is damaged: all servers count as signed out",
      ]);
      expect(said.at(-1)?.replaceAll(path(), "FILE")).toBe("Kept the damaged file as FILE.damaged");
    },
  );

  test("ignores an edited, invalid record, and keeps the others", async () => {
    const store = new CredentialStore(path());
    const near = serverOf("near", { url: far.url });
    await store.update(far, () => record("token"));
    await store.update(near, () => record("token of near"));
    const contents = JSON.parse(readFileSync(path(), "utf8"));
    const [key = ""] = Object.keys(contents.servers).filter((each) => each.startsWith("far "));
    for (const odd of [
      null,
      5,
      "x",
      { tokens: 5 },
      { tokens: { access: 5, scopes: [] } },
      { tokens: { access: "x" } },
      { client: {} },
    ]) {
      contents.servers[key] = odd;
      writeFileSync(path(), JSON.stringify(contents));
      expect(store.read(far)).toBeUndefined();
      expect(store.read(near)?.tokens?.access).toBe("token of near");
    }
  });

  test("is reported without its path if it cannot be written", async () => {
    writeFileSync(join(folder.path, "data"), "a file");
    const error = await thrown(() => new CredentialStore(path()).update(far, () => record("token")));
    expect(error).toBeInstanceOf(ClaudikinsError);
    expect(error).toMatchObject({ code: "FILE_NOT_WRITABLE" });
    expect(Bun.inspect(error)).not.toContain(folder.path);
  });

  test("keeps the records of concurrent processes", async () => {
    const writers = Array.from({ length: 4 }, (_, number) => start("write", path(), `writer-${number}`, "15"));
    expect(await Promise.all(writers.map(({ exited }) => exited))).toEqual([0, 0, 0, 0]);
    const { servers } = JSON.parse(readFileSync(path(), "utf8"));
    expect(Object.keys(servers).length).toBe(60);
  });
});

describe("withLock", () => {
  const file = () => join(folder.path, "locks", "one");

  test("runs one callback at a time, even within a process", async () => {
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      await Bun.sleep(5);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 12 }, () => withLock(file(), "the sign-ins", work)));
    expect([inside, most]).toEqual([0, 1]);
  });

  test("releases the lock if the callback fails", async () => {
    const failure = new Error("failed");
    expect(await thrown(() => withLock(file(), "the sign-ins", () => Promise.reject(failure)))).toBe(failure);
    expect(await withLock(file(), "the sign-ins", () => "free", 0)).toBe("free");
  });

  test("reports a waiting caller, and takes over the lock of a killed process", async () => {
    await using holder = start("hold", file());
    const reader = holder.stdout.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("held\n");
    const error = await thrown(() => withLock(file(), "the sign-ins", () => "mine", 50));
    expect(error).toMatchObject({ code: "CALL_TIMEOUT" });
    const waiting = withLock(file(), "the sign-ins", () => "mine");
    holder.kill("SIGKILL");
    expect(await waiting).toBe("mine");
    expect(existsSync(`${file()}-journal`)).toBe(false);
  });
});

function start(...args: string[]) {
  const file = join(import.meta.dir, "auth-writer.ts");
  return Bun.spawn([process.execPath, file, ...args], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
}
