/** `claudikins tokens`: what is printed and stored, whose tokens are listed and revoked, and which files are refused. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { sha256 } from "../../src/base/sha256.ts";
import { tokensFile } from "../../src/config/locations.ts";
import { issueToken } from "../../src/serve/tokens/manage.ts";
import { changeTokens, readTokens } from "../../src/serve/tokens/token-file.ts";
import { ownFolder } from "../support/own-folder.ts";
import { cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
let env: { HOME: string };
beforeEach(() => {
  env = { HOME: folder.path };
  folder.write("claudikins.json", { mcpServers: {}, doors: { qa: {} } });
  folder.write("other/claudikins.json", { mcpServers: {}, doors: { qa: {} } });
});

const config = () => join(folder.path, "claudikins.json");
const run = (...argv: string[]) => cli(["tokens", ...argv], { cwd: folder.path });
const elsewhere = (...argv: string[]) => cli(["tokens", ...argv], { cwd: join(folder.path, "other"), env });
const json = async (ended: Promise<{ stdout: string }>) => JSON.parse((await ended).stdout);
const stored = () => readFileSync(tokensFile(env), "utf8");
const dayMs = 86_400_000;

describe("add", () => {
  test("prints the token alone on stdout, and stores its digest in a file that only the user can read", async () => {
    const { stdout, stderr, exitCode } = await run("add", "--door", "qa", "--name", "ci");
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^ck_[\w-]{43}\n$/)]);
    const token = stdout.trim();
    const id = sha256(token).slice(0, 8);
    expect(stderr).toBe(
      `The token ${id} (ci) opens only /qa and expires in 90 days. It is shown only once.\nTo revoke it: claudikins tokens revoke ${id}\n`,
    );
    expect(stored()).not.toContain(token);
    expect(statSync(tokensFile(env)).mode & 0o777).toBe(0o600);
    const [only, ...rest] = readTokens(env);
    expect([only, rest]).toEqual([
      {
        hash: sha256(token),
        name: "ci",
        door: "qa",
        config: config(),
        createdAt: expect.any(Number),
        expiresAt: only!.createdAt + 90 * dayMs,
      },
      [],
    ]);
  });

  test("takes a time, or never", async () => {
    const { createdAt, expiresAt } = await json(run("add", "--expires", "12h", "--json"));
    expect(expiresAt - createdAt).toBe(dayMs / 2);
    expect(await json(run("add", "--expires", "never", "--json"))).not.toHaveProperty("expiresAt");
    for (const expires of ["0d", "-1d", "1", "4000d", "soon", "", "1e3d"]) {
      expect((await run("add", "--expires", expires)).exitCode).toBe(2);
    }
  });

  test("refuses a door that the config does not have, and names that could be something else", async () => {
    expect((await run("add", "--door", "nope", "--json")).stderr).toContain('"code":"DOOR_NOT_FOUND"');
    for (const name of ["ck_secret", "1234abcd", "two words", "", "x".repeat(65), "a\nb"]) {
      expect([name, (await run("add", "--name", name)).exitCode]).toEqual([name, 2]);
    }
    expect(existsSync(tokensFile(env))).toBe(false);
  });

  test("needs a trusted config", async () => {
    const { exitCode, stderr } = await cli(["tokens", "add"], {
      cwd: join(folder.path, "other"),
      env: { HOME: join(folder.path, "home"), CI: "" },
    });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("is not trusted yet")]);
  });

  test("makes a bounded number of tokens", async () => {
    await issueToken({ config: null }, env);
    await changeTokens(env, (tokens) => {
      const [first] = tokens;
      for (let each = 1; each < 1_000; each++) tokens.push({ ...first!, hash: sha256(`${each}`) });
    });
    const { exitCode, stderr } = await run("add");
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("There are 1000 tokens already")]);
    expect(readTokens(env)).toHaveLength(1_000);
  });

  test("loses no token when several are made at once", async () => {
    const issued = await Promise.all(Array.from({ length: 12 }, () => issueToken({ config: null }, env)));
    expect(
      readTokens(env)
        .map(({ hash }) => hash)
        .sort(),
    ).toEqual(issued.map(({ token }) => sha256(token)).sort());
  });
});

describe("list", () => {
  test("has the tokens of this config, through whatever link it is found, and with --all those of all", async () => {
    const own = await json(run("add", "--name", "own", "--json"));
    const other = await json(elsewhere("add", "--door", "qa", "--json"));
    const { tokens } = await json(run("--json"));
    const { token: _, ...shown } = own;
    expect(tokens).toEqual([shown]);
    symlinkSync(folder.path, join(folder.path, "link"));
    const linked = await json(run("list", "--json", "--config", join(folder.path, "link/claudikins.json")));
    expect(linked.tokens).toEqual([shown]);
    const { stdout, stderr } = await run();
    expect(stdout.replace(/ {2,}/g, "  ")).toBe(
      `id  name  opens  created  expires  last used\n${own.id}  own  everything  just now  in 90 days  never\n`,
    );
    expect(stderr).toBe("note: 1 more with other configs: claudikins tokens list --all\n");
    expect((await json(run("--all", "--json"))).tokens).toMatchObject([{ id: own.id }, { id: other.id, door: "qa" }]);
  });

  test("says which tokens have expired, and when they were used", async () => {
    const { id } = await json(run("add", "--json"));
    const now = Date.now();
    await changeTokens(env, ([token]) => {
      Object.assign(token!, { expiresAt: now - 2 * dayMs, lastUsedAt: now - 3 * dayMs });
    });
    expect((await run()).stdout.replace(/ {2,}/g, "  ")).toEndWith(
      `${id}  everything  just now  expired 2 days ago  3 days ago\n`,
    );
  });
});

describe("revoke", () => {
  test("takes ids of any config and names of this config", async () => {
    const own = await json(run("add", "--name", "ci", "--json"));
    const other = await json(elsewhere("add", "--name", "ci", "--json"));
    const third = await json(elsewhere("add", "--name", "third", "--json"));
    expect((await run("revoke", "third")).exitCode).toBe(2);
    expect(await json(run("revoke", "ci", third.id, "--json"))).toMatchObject({
      revoked: [{ id: own.id }, { id: third.id }],
    });
    expect(readTokens(env).map(({ hash }) => hash.slice(0, 8))).toEqual([other.id]);
  });

  test("changes nothing if one of the words names no token, or several", async () => {
    const ids = [await json(run("add", "--name", "ci", "--json")), await json(run("add", "--name", "ci", "--json"))];
    const before = stored();
    const { stderr, exitCode } = await run("revoke", "ci");
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`Give an id: ${ids[0].id}, ${ids[1].id}`)]);
    expect((await run("revoke", ids[0].id, "nope", "--json")).stderr).toContain('"code":"TOKEN_NOT_FOUND"');
    expect(stored()).toBe(before);
  });

  test("never repeats a token that was given by mistake", async () => {
    const { id, token } = await json(run("add", "--json"));
    const { stderr, exitCode } = await run("revoke", token);
    expect([exitCode, stderr.includes(token), stderr]).toEqual([2, false, expect.stringContaining(`Its id is ${id}`)]);
    const unknown = `${token.slice(0, -1)}x`;
    expect((await run("revoke", unknown)).stderr).not.toContain(unknown);
    expect(readTokens(env)).toHaveLength(1);
  });
});

describe("the file", () => {
  test("keeps the fields of later versions", async () => {
    const { id } = await json(run("add", "--json"));
    const document = JSON.parse(stored());
    document.more = { kept: true };
    document.tokens[0].scope = "everything";
    writeFileSync(tokensFile(env), JSON.stringify(document));
    await run("add");
    const { more, tokens } = JSON.parse(stored());
    expect([more, tokens[0].scope, tokens[0].hash.slice(0, 8), tokens.length]).toEqual([
      { kept: true },
      "everything",
      id,
      2,
    ]);
  });

  test.each(["{", "[]", "null", '{"version":1}', '{"version":1,"tokens":[{"hash":"x"}]}'])(
    "stays as it is if it is damaged, which is an error: %s",
    async (text) => {
      folder.write(".local/share/claudikins/tokens.json", text);
      chmodSync(tokensFile(env), 0o600);
      for (const argv of [["add"], ["list"], ["revoke", "x"]]) {
        const { exitCode, stderr } = await run(...argv);
        expect([exitCode, stderr]).toEqual([2, expect.stringContaining("The file of tokens is damaged")]);
      }
      expect(stored()).toBe(text);
    },
  );

  test("is refused if others can read or change it, or if it is a link", async () => {
    await run("add");
    const before = stored();
    for (const mode of [0o640, 0o606, 0o622]) {
      chmodSync(tokensFile(env), mode);
      const { exitCode, stderr } = await run("add");
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining("Others can read or change")]);
      expect(stderr).toContain(`chmod 600 ${tokensFile(env)}`);
    }
    expect(stored()).toBe(before);
    const home = join(folder.path, "linked");
    folder.write("linked/.local/share/claudikins/x", "");
    symlinkSync(tokensFile(env), tokensFile({ HOME: home }));
    expect(() => readTokens({ HOME: home })).toThrow("Cannot read the tokens of serve --http");
  });
});

test("Tab offers ids, names of this config's tokens and doors", async () => {
  const own = await json(run("add", "--door", "qa", "--name", "ci", "--json"));
  const other = await json(elsewhere("add", "--name", "far", "--json"));
  const complete = async (...words: string[]) =>
    (await cli(["complete", "fish", "--", ...words], { cwd: folder.path })).stdout;
  expect(await complete("tokens", "revoke", "")).toBe(
    [
      `${own.id}\tci, /qa, ${basename(folder.path)}/claudikins.json`,
      `${other.id}\tfar, every address, other/claudikins.json`,
      "ci\tThe token with this name",
      "",
    ].join("\n"),
  );
  expect(await complete("tokens", "add", "--door", "")).toBe("qa\n");
});
