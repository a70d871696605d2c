/** A keychain that does not answer: commands end with the next step, and the server that needs it does not hold up the others. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in configs
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { claudikinsCommand } from "../support/command.ts";
import { noKeychain, startSilentKeychain } from "../support/keychain.ts";
import { ownFolder } from "../support/own-folder.ts";
import { runProgram } from "../support/process.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(120_000);

const folder = ownFolder();

test.skipIf(noKeychain !== undefined)("a keychain that does not answer holds no process up", async () => {
  await using keychain = await startSilentKeychain();
  const desk = { ...fixture("own-key"), env: { DESK_KEY: "${secret:DESK}" } };
  const open = { ...fixture("own-key"), env: { DESK_KEY: "not a secret" } };
  folder.write("claudikins.json", { mcpServers: { desk, open } });
  folder.write("data/claudikins/secrets.json", {
    version: 1,
    secrets: { DESK: { place: "keychain", setAt: 1 } },
  });
  await Bun.$`chmod 600 ${join(folder.path, "data/claudikins/secrets.json")}`;
  const env = {
    HOME: folder.path,
    XDG_DATA_HOME: join(folder.path, "data"),
    CLAUDIKINS_KEYCHAIN: "on",
    DBUS_SESSION_BUS_ADDRESS: keychain.address,
  };
  const run = async (...argv: string[]) => {
    const startedAt = performance.now();
    const ended = await runProgram([...claudikinsCommand, ...argv], { cwd: folder.path, env, stdin: "value-0815" });
    return { ...ended, seconds: Math.round((performance.now() - startedAt) / 1_000) };
  };
  const [set, called, other] = await Promise.all([
    run("secrets", "set", "OTHER"),
    run("call", "desk.key"),
    run("exec", "-e", "return (await open.key()).key"),
  ]);
  expect(set).toMatchObject({
    exitCode: 1,
    stderr:
      "error: The keychain did not answer within 20 s\n\nhint: Unlock it and try again, or keep the value in a file: claudikins secrets set OTHER --file\n",
  });
  expect(called.stderr).toBe(
    'error: Server "desk" needs the secret DESK, and the keychain did not answer within 20 s\n\nhint: Unlock the keychain and try again, or keep the secret in a file: claudikins secrets set DESK --file\n',
  );
  expect(other.stdout).toBe("not a secret\n");
  for (const { seconds } of [set, called]) expect(seconds).toBeWithin(20, 30);
  expect(other.seconds).toBeLessThan(15);
});
