/** doctor: the executable, the config and the folders. */
import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { shellWord } from "../../../src/base/shell-word.ts";
import { version } from "../../../src/base/version.ts";
import { spaceFindings } from "../../../src/cli/doctor/folders.ts";
import { bucketFixture } from "../../support/bucket.ts";
import { root } from "../../support/claudikins.ts";
import { patient } from "./patient.ts";

const home = patient();
const { at, doctor, configure, program } = home;

describe("the executable", () => {
  test("is reported if it is missing from PATH, on PATH, or another version", async () => {
    mkdirSync(at("empty"));
    const env = { PATH: at("empty") };
    const none = await doctor(undefined, { env });
    expect(none.of("executable.version")?.message).toStartWith(`claudikins ${version}, from source (Bun `);
    expect(none.of("executable.path")).toEqual({
      state: "warning",
      message:
        "claudikins is not on the PATH: agents' project files, skills, generated files and shells cannot find it",
      repair: `sh ${shellWord(join(root, "install.sh"))}`,
    });

    program("bin/claudikins", version);
    const variable = { CLAUDIKINS_EXECUTABLE: at("no/claudikins") };
    expect((await doctor(undefined, { env: variable })).of("executable.variable")).toEqual({
      state: "problem",
      message: "CLAUDIKINS_EXECUTABLE does not name a program: FOLDER/no/claudikins",
      repair: "unset CLAUDIKINS_EXECUTABLE",
      code: "FILE_NOT_FOUND",
    });
    program("old/claudikins", "0.0.9");
    const behind = await doctor(undefined, { env: { PATH: `${at("bin")}:${at("old")}:/usr/bin:/bin` } });
    expect([behind.of("executable.path")?.state, behind.of("executable.others")]).toEqual([
      "ok",
      {
        state: "warning",
        message: "Another claudikins (0.0.9) comes later on the PATH: FOLDER/old/claudikins",
        repair: "If you do not need it: rm FOLDER/old/claudikins",
      },
    ]);
    const before = await doctor(undefined, { env: { PATH: `${at("old")}:${at("bin")}:/usr/bin:/bin` } });
    expect(before.of("executable.path")).toEqual({
      state: "warning",
      message: "Another claudikins (0.0.9) comes first on the PATH: FOLDER/old/claudikins",
      repair: `sh ${shellWord(join(root, "install.sh"))}`,
    });
    expect(behind.of("executable.path")?.message).toBe("On the PATH: FOLDER/bin/claudikins (the same version)");
  });
});

describe("the database of a team", () => {
  test("is a finding only if the environment names one, and a problem if it cannot be used", async () => {
    configure({});
    expect((await doctor()).of("config.database")).toBeUndefined();
    const at = (address: string) => doctor(undefined, { env: { CLAUDIKINS_DATABASE: address } });
    const wrong = (await at("mysql://ada:a-secret@db/claudikins")).of("config.database");
    expect(wrong).toMatchObject({ state: "problem", code: "CONFIG_INVALID" });
    const away = (await at("postgres://ada:a-secret@127.0.0.1:9/claudikins")).of("config.database");
    expect(away).toEqual({
      state: "problem",
      message: "The database cannot be reached",
      repair: "Check CLAUDIKINS_DATABASE, and whether the database runs.",
      code: "DATABASE_UNAVAILABLE",
    });
  });
});

describe("the bucket of a team", () => {
  const database = "postgres://ada:a-secret@127.0.0.1:9/claudikins";

  test("is a finding only if the environment names one, and is written, read and emptied", async () => {
    configure({});
    expect((await doctor()).of("config.bucket")).toBeUndefined();
    await using bucket = await bucketFixture();
    const found = async (address: string, env: Record<string, string> = { CLAUDIKINS_DATABASE: database }) => {
      const answer = await doctor(undefined, { env: { ...env, CLAUDIKINS_BUCKET: address } });
      expect(JSON.stringify(answer.findings)).not.toMatch(/S3RVER|a-secret/);
      return answer.of("config.bucket");
    };
    // Each doctor waits for the database, which cannot be reached.
    const [usable, unknown, wrong, useless] = await Promise.all([
      found(bucket.address),
      found(bucket.address.replace("@team", "@nobody")),
      found("s3://S3RVER:a-secret@team?region=eu&color=red"),
      found(bucket.address, {}),
    ]);
    expect(usable).toEqual({
      state: "ok",
      message: "The bucket that CLAUDIKINS_BUCKET names can be written, read and emptied",
    });
    expect(await bucket.names()).toEqual([]);
    expect(unknown).toEqual({
      state: "problem",
      message: "The bucket that CLAUDIKINS_BUCKET names does not exist",
      repair: "Create it, or correct its name.",
      code: "BUCKET_UNAVAILABLE",
    });
    expect(wrong).toMatchObject({ state: "problem", code: "CONFIG_INVALID" });
    expect(useless).toMatchObject({
      state: "warning",
      message: "CLAUDIKINS_BUCKET has no effect: contents go to a bucket only if a team has a database",
    });
  });
});

describe("the config", () => {
  test("has doors, and one that cannot be opened is a problem", async () => {
    configure(
      { one: { command: "one" }, two: { command: "two" } },
      { doors: { qa: { servers: ["two"] }, bad: { servers: ["tvo"] } } },
    );
    const { of, exitCode } = await doctor();
    expect([exitCode, of("config.doors.qa"), of("config.doors.bad")]).toEqual([
      2,
      { state: "ok", message: 'Behind the door "qa": two' },
      {
        state: "problem",
        code: "CONFIG_INVALID",
        message: 'FOLDER/claudikins.json: doors.bad.servers[0]: no server is called "tvo". Did you mean two?',
      },
    ]);
  });

  test("has tokens, and warns about those that expire or open no door", async () => {
    configure({ one: { command: "one" } }, { doors: { qa: {} } });
    const add = async (name: string, ...flags: string[]) => {
      const argv = ["tokens", "add", "--json", "--name", name, ...flags];
      return JSON.parse((await home.run(argv)).stdout).id as string;
    };
    await add("fine", "--door", "qa");
    expect((await doctor()).of("config.tokens")).toEqual({
      state: "ok",
      message: "Tokens of serve --http: 1, all valid",
    });
    const soon = await add("soon", "--door", "qa", "--expires", "6d");
    const over = await add("over", "--expires", "1s");
    const gone = await add("gone", "--door", "qa", "--expires", "never");
    const file = at(".local/share/claudikins/tokens.json");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace(/("name": "gone",\s*"door": )"qa"/, '$1"old"'));
    await Bun.sleep(1_000);
    const { of, exitCode } = await doctor();
    expect([exitCode, of("config.tokens"), of(`config.tokens.${soon}`), of(`config.tokens.${over}`)]).toEqual([
      0,
      undefined,
      {
        state: "warning",
        message: `The token ${soon} (soon) of serve --http expires in 6 days`,
        repair: `Make another one with "claudikins tokens add --door qa", give it to the agent, and then: claudikins tokens revoke ${soon}`,
      },
      {
        state: "warning",
        message: `The token ${over} (over) of serve --http expired just now`,
        repair: `claudikins tokens revoke ${over}`,
      },
    ]);
    expect(of(`config.tokens.${gone}`)).toEqual({
      state: "warning",
      message: `The token ${gone} (gone) opens the door "old", which the config does not have any more`,
      repair: `claudikins tokens revoke ${gone}`,
    });
    writeFileSync(file, "{");
    expect((await doctor()).of("config.tokens")).toEqual({
      state: "problem",
      code: "USAGE",
      message: "The file of tokens is damaged: FOLDER/.local/share/claudikins/tokens.json",
      repair: "Repair it, or delete it and make new tokens.",
    });
  });

  test("may be missing", async () => {
    const { of, exitCode } = await doctor();
    expect([exitCode, of("config.file")]).toEqual([
      0,
      {
        state: "ok",
        message: "There is no config file yet: claudikins uses its built-in demo server. To make one: claudikins init",
      },
    ]);
  });

  test("is reported with all problems, and the other checks still run", async () => {
    home.folder.write("claudikins.json", '{ "mcpServers": { "a": { "command": 1 } }, "limits": { "calls": "b" } }');
    const { ok, of, exitCode, findings } = await doctor();
    expect([ok, exitCode]).toEqual([false, 2]);
    expect(of("config.file")).toEqual({
      state: "problem",
      message: "The config has 2 problems:",
      details: [
        "FOLDER/claudikins.json:1:37  mcpServers.a.command: expected a string, found 1",
        'FOLDER/claudikins.json:1:65  limits.calls: expected a number, found "b"',
      ],
      repair: "Correct the file and run the command again. Nothing was started.",
      code: "CONFIG_INVALID",
    });
    expect(of("config.rest")?.message).toBe(
      "Not checked, because there is no usable config: servers, sign-ins, folders and registry",
    );
    expect(new Set(findings.map(({ area }) => area))).toEqual(
      new Set(["executable", "config", "hosts", "skills", "daemon"]),
    );
  });

  test("is reported if a named file does not exist", async () => {
    const { of, exitCode } = await doctor(["--config", "no.json"]);
    expect([exitCode, of("config.file")?.code]).toEqual([2, "CONFIG_NOT_FOUND"]);
  });

  test("is reported with missing variables", async () => {
    configure({ "needs two": { command: "x", env: { A: "${A_TOKEN}", B: "${B_TOKEN}" } } });
    const { of, exitCode, findings } = await doctor([]);
    expect([exitCode, of("variables.needs two")]).toEqual([
      2,
      {
        state: "problem",
        message: 'Server "needs two" needs A_TOKEN, B_TOKEN in the environment',
        repair: "export A_TOKEN=…; export B_TOKEN=…",
        code: "NEEDS_VARIABLE",
      },
    ]);
    // The variable is reported once.
    expect(findings.filter(({ area }) => area === "servers")).toEqual([]);
  });

  test("is reported if the key of its model is missing or written in the file", async () => {
    const file = configure({}, { llm: { preset: "cerebras" } });
    chmodSync(file, 0o644);
    const { of, exitCode } = await doctor();
    expect([exitCode, of("llm.variables"), of("config.rights")]).toEqual([
      0,
      {
        state: "warning",
        message: "The model cerebras/gpt-oss-120b needs CEREBRAS_API_KEY in the environment",
        repair: "export CEREBRAS_API_KEY=…",
      },
      undefined,
    ]);
    configure({}, { llm: { preset: "cerebras", apiKey: "csk-ofNobody0123456789" } });
    const written = await doctor();
    expect(written.of("llm.variables")).toBeUndefined();
    expect(written.of("config.rights")?.state).toBe("warning");
    expect(JSON.stringify(written.findings)).not.toContain("ofNobody");
  });

  test("is reported if git or other users would see its secrets", async () => {
    const secret = "ghp_ofNobody0123456789";
    const file = configure({ a: { command: "x", env: { TOKEN: secret } } });
    chmodSync(file, 0o600);
    expect((await doctor()).of("config.secrets")).toBeUndefined();
    mkdirSync(at(".git"));
    chmodSync(file, 0o644);
    const found = await doctor();
    expect([found.of("config.secrets"), found.of("config.rights")]).toEqual([
      {
        state: "warning",
        message:
          "The config contains a secret and git does not ignore the file: replace the secret with ${VAR}, or keep the file out of git",
        repair: "echo claudikins.json >> FOLDER/.gitignore",
      },
      {
        state: "warning",
        message: "The config contains a secret, and other users of this machine can read the file",
        repair: "chmod 600 FOLDER/claudikins.json",
      },
    ]);
    expect(JSON.stringify(found.findings)).not.toContain(secret);
    home.folder.write(".gitignore", "node_modules\nclaudikins.json\n");
    chmodSync(file, 0o600);
    const repaired = await doctor();
    expect([repaired.of("config.secrets"), repaired.of("config.rights")]).toEqual([undefined, undefined]);
    configure({ a: { command: "x", env: { TOKEN: "${TOKEN:-}" } } });
    rmSync(at(".gitignore"));
    expect((await doctor()).of("config.secrets")).toBeUndefined();
  });
});

describe("a folder", () => {
  test("is reported if it cannot be created, but not if it does not exist yet", async () => {
    home.folder.write("taken", "a file");
    configure({}, { workspace: "taken/workspace" });
    const { of, exitCode } = await doctor();
    expect([exitCode, of("folder.workspace"), of("folder.registry")]).toEqual([
      2,
      {
        state: "problem",
        message: "The workspace cannot be created, because there is a file in its place: FOLDER/taken",
        repair: "mv FOLDER/taken FOLDER/taken.old",
        code: "FILE_NOT_WRITABLE",
      },
      { state: "ok", message: "The registry is created when it is needed: FOLDER/.claudikins/registry" },
    ]);
  });

  // root can write to every folder.
  test.skipIf(process.getuid?.() === 0)("is reported if it cannot be written to", async () => {
    mkdirSync(at("shut"), { mode: 0o500 });
    configure({}, { workspace: "shut" });
    expect((await doctor()).of("folder.workspace")).toMatchObject({
      state: "problem",
      repair: "chmod u+rwx FOLDER/shut",
    });
  });

  test("is reported if its disk is full", () => {
    expect(spaceFindings(undefined, "/w")).toEqual([]);
    expect(spaceFindings(200 * 1_048_576, "/w")).toEqual([]);
    expect(spaceFindings(5 * 1_048_576, "/w")).toMatchObject([
      {
        state: "warning",
        message: "The workspace's disk has only 5 MB left: /w",
        repair: 'Free some space there, or set "workspace" in the config to another disk.',
      },
    ]);
  });
});
