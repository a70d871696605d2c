/** A real keychain, with the executable: where secrets and the key of sign-ins are, and what happens if it is locked or missing. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in configs
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { claudikinsCommand } from "../support/command.ts";
import { noKeychain, startKeychain } from "../support/keychain.ts";
import { ownFolder } from "../support/own-folder.ts";
import { runProgram } from "../support/process.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
const value = "canary-0815-4711";
let file: string;
beforeEach(() => {
  file = join(folder.path, "data", "claudikins", "secrets.json");
  const desk = { ...fixture("own-key"), env: { DESK_KEY: "${secret:DESK}" } };
  folder.write("claudikins.json", { mcpServers: { desk } });
});

/** Runs claudikins with the keychain at the address, or without a keychain. */
function run(argv: string[], address = "", stdin = "") {
  const env = { ...home(), DBUS_SESSION_BUS_ADDRESS: address };
  return runProgram([...claudikinsCommand, ...argv], { cwd: folder.path, env, stdin });
}

const home = () => ({
  HOME: folder.path,
  XDG_DATA_HOME: join(folder.path, "data"),
  XDG_CONFIG_HOME: join(folder.path, "config"),
  XDG_RUNTIME_DIR: folder.path,
  CLAUDIKINS_KEYCHAIN: "on",
});

describe.skipIf(noKeychain !== undefined)(`with a keychain${noKeychain ? `, which ${noKeychain}` : ""}`, () => {
  test("a secret is there and in no file, servers get it, and it can be removed", async () => {
    await using keychain = await startKeychain();
    const set = await run(["secrets", "set", "DESK"], keychain.address, `${value}\n`);
    expect(set).toMatchObject({ exitCode: 0, stdout: "Set DESK in the system's keychain\n" });
    expect(readFileSync(file, "utf8")).not.toContain(value);
    const { stdout } = await run(["secrets", "--json"], keychain.address);
    expect(JSON.parse(stdout).secrets).toEqual([
      { name: "DESK", place: "keychain", setAt: expect.any(Number), servers: ["desk"] },
    ]);
    const called = await run(["call", "desk.key"], keychain.address);
    expect(JSON.parse(called.stdout).key).toBe(value);
    expect(called.stderr).not.toContain(value);
    // Another session of the same user has no keychain.
    expect((await run(["call", "desk.key"])).stderr).toContain(
      'Server "desk" needs the secret DESK, and the keychain cannot be reached: this session has no D-Bus',
    );
    expect((await run(["secrets", "remove", "DESK"], keychain.address)).exitCode).toBe(0);
    expect((await run(["call", "desk.key"], keychain.address)).stderr).toContain(
      'Server "desk" needs the secret DESK, which is not set\n\nhint: Set it: claudikins secrets set DESK',
    );
  });

  test("a keychain that nobody can unlock leaves the value in a file, and says so", async () => {
    await using keychain = await startKeychain({ locked: true });
    const set = await run(["secrets", "set", "DESK"], keychain.address, value);
    expect(set.stdout).toBe(`Set DESK in ${file}\n`);
    expect(set.stderr).toMatch(/^The keychain cannot be used: .*\. The value is in a file that only you can read\.$/m);
    expect(JSON.parse((await run(["call", "desk.key"], keychain.address)).stdout).key).toBe(value);
  });

  test("sign-ins are sealed with a key of the keychain, also those that were stored without one, and all processes can read them", async () => {
    await using keychain = await startKeychain();
    const signIns = join(folder.path, "data", "claudikins", "credentials.json");
    const writer = (address: string, ...words: string[]) => {
      const [what = "", ...rest] = words;
      const script = join(import.meta.dir, "..", "servers", "auth-writer.ts");
      const env = { ...home(), DBUS_SESSION_BUS_ADDRESS: address };
      return runProgram([process.execPath, script, what, signIns, ...rest], { cwd: folder.path, env });
    };
    await writer("", "write", "far", "2");
    expect(readFileSync(signIns, "utf8")).toContain("access of far-1");
    await writer(keychain.address, "seal");
    await writer(keychain.address, "write", "near", "1");
    expect(readFileSync(signIns, "utf8")).not.toContain("access of");
    expect(statSync(signIns).mode & 0o777).toBe(0o600);
    const read = (name: string, address = keychain.address) => writer(address, "read", name);
    expect((await read("far-1")).stdout).toBe("access of far-1\n");
    expect((await read("near-0")).stdout).toBe("access of near-0\n");
    // Without the keychain, nobody can read them, and other sign-ins can be added.
    expect(await read("far-1", "")).toEqual({
      exitCode: 0,
      stdout: "signed out\n",
      stderr:
        "The sign-ins are sealed, and the keychain cannot be reached: this session has no D-Bus: all servers count as signed out\n",
    });
    await writer("", "write", "here", "1");
    expect((await read("here-0", "")).stdout).toBe("access of here-0\n");
    expect((await read("far-1")).stdout).toBe("access of far-1\n");
  });
});

test("without a keychain, the value is in a file that only the user can read, and the command says so", async () => {
  const set = await run(["secrets", "set", "DESK"], "", value);
  expect(set).toEqual({
    exitCode: 0,
    stdout: `Set DESK in ${file}\n`,
    stderr:
      'The keychain cannot be reached: this session has no D-Bus. The value is in a file that only you can read.\nServers use it when they start next: "${secret:DESK}"\n',
  });
  expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
  expect(JSON.parse((await run(["call", "desk.key"])).stdout).key).toBe(value);
});
