/** `${secret:NAME}` and `${command:…}` in entries: real servers, a real file of secrets, real programs. No value is in any text. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in configs
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../../src/config/load.ts";
import { secretsFile } from "../../../src/config/locations.ts";
import { entryReferencesOf } from "../../../src/config/secrets/references.ts";
import { setSecret } from "../../../src/config/secrets/store.ts";
import { redactorOf } from "../../../src/servers/values/secrets.ts";
import { type NetworkFixture, networkFixture } from "../../support/network.ts";
import { ownPool } from "../../support/own-pool.ts";
import { failureOf, failureText, plainValue, type ServerEntry, serverConfig } from "../../support/pool.ts";
import { fixture } from "../../support/servers.ts";

setDefaultTimeout(60_000);

const own = ownPool();
let env: Record<string, string>;
let logged: string[] = [];
beforeEach(() => {
  env = { PATH: process.env["PATH"] ?? "", HOME: own.folder.path, CLAUDIKINS_KEYCHAIN: "off" };
  logged = [];
});

const write = (line: string) => void logged.push(line);
const log = { debug: write, info: write, warn: write };
const set = (name: string, value: string) => setSecret(name, value, { env });

/** Its tool returns the key, and it writes the key to stderr. */
function openDesk(key: string) {
  const desk = fixture("own-key");
  const entry = { ...desk, env: { DESK_KEY: key } };
  own.open({ desk: { ...entry, ...entryReferencesOf(entry, own.folder.path) } }, { env, log });
}
const key = async () => (plainValue(await own.pool.callTool("desk", "key", {})) as { key: string }).key;
const failure = async () => failureText(await failureOf(own.pool.callTool("desk", "key", {})), own.folder.path);

describe("secrets", () => {
  test("a secret reaches the server that needs it", async () => {
    await set("DESK", "horse battery staple");
    openDesk("key ${secret:DESK}");
    expect(await key()).toBe("key horse battery staple");
  });

  test("a secret that is not set is an error with the command that sets it, and the server works once it is set", async () => {
    openDesk("${secret:DESK}");
    expect(await failure()).toBe(
      'NEEDS_SECRET: Server "desk" needs the secret DESK, which is not set\nhint: Set it: claudikins secrets set DESK',
    );
    await set("DESK", "value-0815-4711");
    await own.pool.release("desk");
    await Bun.sleep(1_100);
    expect(await key()).toBe("value-0815-4711");
  });

  test("a secret that is set again is used by the next process", async () => {
    await set("DESK", "value-0815-4711");
    openDesk("${secret:DESK}");
    await key();
    await set("DESK", "value-0815-4712");
    await own.pool.release("desk");
    expect(await key()).toBe("value-0815-4712");
  });

  test("a secret that others can read is not used", async () => {
    await set("DESK", "value-0815-4711");
    chmodSync(secretsFile(env), 0o644);
    openDesk("${secret:DESK}");
    expect(await failure()).toBe(
      `NEEDS_SECRET: Server "desk" needs a secret: Others can read or change MARK/.local/share/claudikins/secrets.json, so no secret in it is used\nhint: Run: chmod 600 MARK/.local/share/claudikins/secrets.json`,
    );
  });

  test("a secret is removed from texts whatever it looks like, also after it was set again", async () => {
    const desk = serverConfig("desk", { command: "desk", env: { KEY: "${secret:PLAIN}" } });
    const redact = redactorOf(desk);
    expect(redact("open-sesame and ${secret:PLAIN}")).toBe("open-sesame and ${secret:PLAIN}");
    await set("PLAIN", "open-sesame");
    openDesk("${secret:PLAIN}");
    await key();
    expect(redact("open-sesame, in base64: b3Blbi1zZXNhbWU=")).toMatch(
      /^\$\{secret:PLAIN\}, in base64: \$\{secret:PLAIN\}.{0,2}$/,
    );
    await set("PLAIN", "sesame-open");
    await own.pool.release("desk");
    await key();
    expect(redact("open-sesame sesame-open")).toBe("${secret:PLAIN} ${secret:PLAIN}");
    expect(logged.join("\n")).not.toMatch(/open-sesame|sesame-open/);
  });

  test("a secret in the password of an address is removed in the form that is sent", async () => {
    await set("PASSWORD", "open-sesame");
    const far = serverConfig("far", { url: "https://ann:${secret:PASSWORD}@example.com/mcp" });
    const redact = redactorOf(far);
    openDesk("${secret:PASSWORD}");
    await key();
    expect(redact(`Basic ${Buffer.from("ann:open-sesame").toString("base64")}`)).toBe("Basic ***");
  });
});

test("a value of a variable that looks like a reference is none", async () => {
  own.folder.write("claudikins.json", {
    mcpServers: { desk: { ...fixture("own-key"), env: { DESK_KEY: "${FROM_SHELL}", OTHER: "${secret:OTHER}" } } },
  });
  await set("OTHER", "value-0815-4711");
  const shell = { ...env, FROM_SHELL: "${command:touch ran} ${secret:DESK}", CI: "true" };
  const { servers } = await loadConfig({ cwd: own.folder.path, env: shell });
  own.open({ desk: servers.get("desk") as ServerEntry }, { env, log });
  expect(await key()).toBe("${command:touch ran} ${secret:DESK}");
  expect(existsSync(join(own.folder.path, "ran"))).toBe(false);
});

describe("commands", () => {
  test("a command gives the first line that it prints, runs once for the process, and gets no shell", async () => {
    openDesk(`\${command:sh -c 'echo ran >> runs; echo "printed-0815 $1"; echo more' x '*'}`);
    expect(await key()).toBe("printed-0815 *");
    await own.pool.release("desk");
    expect(await key()).toBe("printed-0815 *");
    expect(readFileSync(join(own.folder.path, "runs"), "utf8")).toBe("ran\n");
    expect(logged.join("\n")).not.toContain("printed-0815");
  });

  const failing: [string, string, string][] = [
    ["fails", "sh -c 'echo 403 denied >&2; echo value; exit 4'", "exited with code 4: 403 denied"],
    ["prints nothing", "true", "printed nothing"],
    ["does not exist", "no-such-program-here", "could not be started (ENOENT)"],
    ["prints without end", "yes value", "printed more than 64 KB"],
  ];
  test.each(failing)("a command that %s is an error with the reason", async (_, line, why) => {
    openDesk(`\${command:${line}}`);
    const [program] = line.split(" ");
    expect(await failure()).toBe(
      `NEEDS_SECRET: Server "desk" needs a value that the command ${program} prints: it ${why}\nhint: Run the command of the config in a terminal to see what it prints.`,
    );
  });

  test("a command in a header runs again after a 401, once for all requests, and the request is repeated", async () => {
    own.folder.write("token", "token-0815-1");
    const path = join(own.folder.path, "token");
    await using server: NetworkFixture = await networkFixture("guarded", { env: { TOKEN_FILE: path, STATUS: "401" } });
    const url = `http://127.0.0.1:${server.port}/mcp`;
    const headers = { Authorization: "Bearer ${command:sh -c 'echo ran >> runs; cat token'}" };
    own.open({ far: { url, headers, ...entryReferencesOf({ headers }, own.folder.path) } }, { env, log });
    const call = async (args: object) => plainValue(await own.pool.callTool("far", "echo", args));
    expect(await call({ n: 1 })).toEqual({ n: 1 });
    own.folder.write("token", "token-0815-2");
    expect(await Promise.all([call({ n: 2 }), call({ n: 3 })])).toEqual([{ n: 2 }, { n: 3 }]);
    expect(readFileSync(join(own.folder.path, "runs"), "utf8")).toBe("ran\nran\n");
    expect(logged.join("\n")).not.toContain("token-0815");
    expect(existsSync(secretsFile(env))).toBe(false);
  });
});
