/** Sealed credentials of people: who can open them, with which keys, and what keys may look like. */
import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Seal } from "../../src/base/seal.ts";
import type { NetworkServer } from "../../src/config/load.ts";
import { CredentialStore } from "../../src/servers/auth/credentials.ts";
import { removeCredentials, serversOfPeople } from "../../src/servers/auth/person-files.ts";
import { sealingKeysOf } from "../../src/servers/auth/seal.ts";
import { temporaryFolder } from "../support/temporary.ts";

const text = () => randomBytes(32).toString("base64");
const keysOf = (...keys: string[]) => sealingKeysOf({ keys, file: undefined, needs: [] });

describe("a seal", () => {
  test("opens for the same owner and the same thing only", () => {
    const keys = keysOf(text());
    const sealed = new Seal(keys, "ann").seal("secret", "desk");
    expect(sealed).not.toContain("secret");
    expect(new Seal(keys, "ann").open(sealed, "desk")).toEqual({ text: "secret", isOld: false });
    expect(new Seal(keys, "bob").open(sealed, "desk")).toBeUndefined();
    expect(new Seal(keys, "ann").open(sealed, "mail")).toBeUndefined();
    expect(new Seal(keysOf(text()), "ann").open(sealed, "desk")).toBeUndefined();
    // The same text is sealed differently each time.
    expect(new Seal(keys, "ann").seal("secret", "desk")).not.toBe(sealed);
  });

  test("opens with each of several keys, and the first one seals", () => {
    const [older, newer] = [text(), text()];
    const sealed = new Seal(keysOf(older), "ann").seal("secret", "desk");
    expect(new Seal(keysOf(newer, older), "ann").open(sealed, "desk")).toEqual({ text: "secret", isOld: true });
    const again = new Seal(keysOf(newer, older), "ann").seal("secret", "desk");
    expect(new Seal(keysOf(newer), "ann").open(again, "desk")).toEqual({ text: "secret", isOld: false });
  });

  test("does not open if any part of it was changed", () => {
    const seal = new Seal(keysOf(text()), "ann");
    const parts = seal.seal("secret", "desk").split(".");
    for (const [place, part] of parts.entries()) {
      for (const at of [0, Math.floor(part.length / 2)]) {
        const other = part[at] === "A" ? "B" : "A";
        const changed = parts.with(place, part.slice(0, at) + other + part.slice(at + 1)).join(".");
        expect(seal.open(changed, "desk")).toBeUndefined();
      }
      expect(seal.open(parts.with(place, "").join("."), "desk")).toBeUndefined();
    }
    for (const odd of ["", "...", "a.b.c", JSON.stringify(parts)]) expect(seal.open(odd, "desk")).toBeUndefined();
  });
});

describe("keys", () => {
  test("are in base64 or hex, several in one text, or lines of a file", () => {
    using folder = temporaryFolder();
    const bytes = [randomBytes(32), randomBytes(32), randomBytes(32)];
    const texts = [bytes[0]!.toString("base64"), bytes[1]!.toString("hex"), bytes[2]!.toString("base64url")];
    const found = (keys: string[], file?: string) =>
      sealingKeysOf({ keys, file, needs: [] }).map((key) => Buffer.from(key.bytes).toString("hex"));
    const wanted = bytes.map((each) => each.toString("hex"));
    expect(found(texts)).toEqual(wanted);
    expect(found([texts.join(", ")])).toEqual(wanted);
    const file = join(folder.path, "keys");
    writeFileSync(file, `${texts.join("\n")}\n`);
    expect(found([], file)).toEqual(wanted);
  });

  test("cause an error that does not show them if they are missing or unusable", () => {
    const failure = (keys: string[], more: object = {}) => {
      try {
        sealingKeysOf({ keys, file: undefined, needs: [], ...more });
        return undefined;
      } catch (error) {
        return error as Error & { code: string };
      }
    };
    expect(failure([], { needs: ["CLAUDIKINS_SEALING_KEY"] })?.code).toBe("NEEDS_VARIABLE");
    expect(failure([])?.message).toBe("The credentials of people cannot be sealed: there is no key");
    for (const short of ["hunter2hunter2", randomBytes(31).toString("base64"), randomBytes(33).toString("hex")]) {
      const error = failure([short]);
      expect(error).toMatchObject({ code: "CONFIG_INVALID" });
      expect(error?.message).not.toContain(short);
    }
    expect(failure([], { file: "/nowhere/keys" })).toMatchObject({
      code: "FILE_NOT_FOUND",
      message: "Cannot read auth.sealingKeyFile: ENOENT",
    });
  });
});

test("credentials that were moved to the file of another person count as missing", async () => {
  using folder = temporaryFolder();
  const keys = keysOf(text());
  const server = { name: "desk", url: "https://desk.example.com/mcp", credentials: "user" } as NetworkServer;
  const storeOf = (name: string) =>
    new CredentialStore(join(folder.path, name, "credentials.json"), undefined, {
      owner: { name, seal: new Seal(keys, name), tokenOf: () => undefined, pageFor: () => undefined },
    });
  const tokens = { access: "of-ann", scopes: [], since: 1, obtainedAt: 1 };
  await storeOf("ann").update(server, () => ({ server: "desk", tokens }));
  await storeOf("bob").update(server, () => ({ server: "desk", tokens: { ...tokens, access: "of-bob" } }));
  const [anns, bobs] = ["ann", "bob"].map((each) => join(folder.path, each, "credentials.json")) as [string, string];
  expect(storeOf("bob").read(server)?.tokens?.access).toBe("of-bob");
  writeFileSync(bobs, readFileSync(anns));
  expect(storeOf("bob").read(server)).toBeUndefined();
  // Nor does a record count that nobody has sealed.
  writeFileSync(bobs, JSON.stringify({ version: 1, servers: JSON.parse(readFileSync(anns, "utf8")).servers }));
  const [key = ""] = Object.keys(JSON.parse(readFileSync(anns, "utf8")).servers);
  writeFileSync(bobs, JSON.stringify({ version: 1, servers: { [key]: { server: "desk", tokens } } }));
  expect(storeOf("bob").read(server)).toBeUndefined();
  expect(storeOf("ann").read(server)?.tokens?.access).toBe("of-ann");
});

test("the servers of a person can be listed without a key, and removed with everything", async () => {
  using folder = temporaryFolder();
  const env = { XDG_DATA_HOME: folder.path };
  const person = { config: "/work/claudikins.json", id: "0123456789abcdef" };
  expect(await serversOfPeople([person], env)).toEqual([[]]);
  await removeCredentials(person, env);
  const { personCredentialsFile } = await import("../../src/config/locations.ts");
  const file = personCredentialsFile({ config: person.config, person: person.id }, env);
  const owner = { name: "ann", seal: new Seal(keysOf(text()), "ann"), tokenOf: () => "", pageFor: () => "" };
  const store = new CredentialStore(file, undefined, { owner });
  for (const name of ["desk", "a name with spaces", "desk 12ab"]) {
    const server = { name, url: "https://desk.example.com/mcp" } as NetworkServer;
    await store.update(server, () => ({ server: name }));
  }
  expect(await serversOfPeople([person], env)).toEqual([["a name with spaces", "desk", "desk 12ab"]]);
  await removeCredentials(person, env);
  expect(await serversOfPeople([person], env)).toEqual([[]]);
});
