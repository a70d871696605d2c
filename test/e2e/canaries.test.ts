/**
 * Secrets from six sources (env, header, address, keychain, command, sign-in) are planted, and servers repeat them wherever they can. They
 * are nowhere in what the executable prints, answers, writes or parks.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in configs
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CredentialStore } from "../../src/servers/auth/credentials.ts";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { noKeychain, startKeychain, type TestKeychain } from "../support/keychain.ts";
import { Page } from "../support/page.ts";
import { serverConfig } from "../support/pool.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(180_000);

const canary = {
  env: "canary-env-4711-aq",
  header: "canary-header-4712-bw",
  address: "canary-address-4713-ce",
  keychain: "canary-keychain-4714-dr",
  command: "canary-command-4715-et",
  signIn: "canary-sign-in-4716-fz",
};

/** Plain, and in base64 at each of the three positions. */
const forms = Object.values(canary).flatMap((secret) => [
  secret,
  ...["", "x", "xx"].map((before) =>
    Buffer.from(before + secret)
      .toString("base64")
      .slice(before ? 4 : 0, -4),
  ),
]);

let home: TemporaryFolder;
/** Not in the home: the places where the secrets come from. */
let elsewhere: TemporaryFolder;
let far: Bun.Server<undefined>;
let keychain: TestKeychain | undefined;
let env: Record<string, string>;

beforeEach(async () => {
  [home, elsewhere] = [temporaryFolder(), temporaryFolder()];
  keychain = noKeychain === undefined ? await startKeychain() : undefined;
  // Repeats everything that it receives.
  far = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => new Response(`no: ${request.url} ${JSON.stringify([...request.headers])}`, { status: 500 }),
  });
  const printed = elsewhere.write("printed", canary.command);
  const leaky = (mode: string, variables: object) => {
    const { command, args } = fixture("leaky", mode);
    return { command, args: [...args, "--api-key", `\${command:cat '${printed}'}`], env: variables };
  };
  const url = `http://127.0.0.1:${far.port}`;
  home.write("project/claudikins.json", {
    mcpServers: {
      leaky: leaky("starts", { TOKEN: "${secret:KEPT}" }),
      dies: leaky("dies", { TOKEN: canary.env }),
      far: { url: `${url}/mcp?key=${canary.address}`, headers: { "X-Key": canary.header, "X-Kept": "${secret:KEPT}" } },
      signed: { url: `${url}/signed` },
      counting: {
        ...fixture("counting", join(home.path, "counts")),
        env: { KEY: canary.env, KEPT: "${secret:KEPT}", PRINTED: `\${command:cat '${printed}'}` },
        confirm: { act: "always" },
      },
    },
  });
  const runtime = join(elsewhere.path, "runtime");
  mkdirSync(runtime, { mode: 0o700 });
  env = testEnvironment({
    HOME: home.path,
    XDG_DATA_HOME: join(home.path, "data"),
    XDG_CONFIG_HOME: join(home.path, "config"),
    XDG_RUNTIME_DIR: runtime,
    TMPDIR: runtime,
    CLAUDIKINS_LOG: "debug",
    CLAUDIKINS_DAEMON: "on",
    CLAUDIKINS_KEYCHAIN: keychain ? "on" : "off",
    DBUS_SESSION_BUS_ADDRESS: keychain?.address ?? "",
  });
});
afterEach(async () => {
  await run("daemon", "stop", "--all", "--now");
  await far.stop(true);
  await keychain?.[Symbol.asyncDispose]();
  for (const folder of [home, elsewhere]) folder[Symbol.dispose]();
});

const cwd = () => join(home.path, "project");
const run = (...argv: string[]) => runProgram([...claudikinsCommand, ...argv], { cwd: cwd(), env });

const leaks = (text: string) => forms.filter((form) => text.includes(form));

async function said(...argv: string[]): Promise<string> {
  const { stdout, stderr } = await run(...argv);
  expect([argv, leaks(`${stdout}\n${stderr}`)]).toEqual([argv, []]);
  return stdout;
}

const failing = `const fail = async (call) => { try { await call() } catch (error) { console.log(error, error.hint, error.stack) } };
for (const call of [() => leaky.errs(), () => leaky.ends(), () => dies.x(), () => far.x(), () => signed.x()]) await fail(call);
console.log(await tools.list(), await tools.search("token"));`;

const parking = `${failing}
const kept = [(await counting.read({ name: "before" })).count];
const remembered = ["only", "in", "memory"].join("-");
await counting.act({ name: "after" });
return [kept, remembered]`;

/** All files of the home but the config, and the store of secrets and sign-ins where there is no keychain. */
function filesWithLeaks(): string[] {
  const own = ["project/claudikins.json", ...(keychain ? [] : ["secrets.json", "credentials.json"])];
  const all = readdirSync(home.path, { recursive: true, encoding: "utf8" }).map((name) => join(home.path, name));
  const files = all.filter((file) => statSync(file).isFile() && !own.some((name) => file.endsWith(name)));
  expect(files.length).toBeGreaterThan(8);
  return files.filter((file) => leaks(readFileSync(file, "latin1")).length > 0);
}

const compressed = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** All texts in the database, and in the memory of parked programs, which is compressed there. */
function databaseTexts(): string[] {
  using database = new Database(join(home.path, "data", "claudikins", "executions.sqlite"), { readonly: true });
  const tables = database.query("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { name: string }[];
  const values = tables.flatMap(({ name }) => database.query(`SELECT * FROM "${name}"`).values().flat());
  return values.flatMap((value) => {
    if (!(value instanceof Uint8Array)) return [String(value)];
    const bytes = Buffer.from(value);
    const parts: Buffer[] = [];
    const beginnings = [];
    for (let at = bytes.indexOf(compressed); at !== -1; at = bytes.indexOf(compressed, at + 1)) beginnings.push(at);
    for (const [index, at] of beginnings.entries()) {
      const page = bytes.subarray(at, beginnings[index + 1] ?? bytes.length);
      try {
        parts.push(Bun.zstdDecompressSync(page));
      } catch {
        // These bytes only look like the beginning of a page.
      }
    }
    return [bytes, ...parts].map((part) => part.toString("latin1"));
  });
}

test("six secrets are in no output, answer, file, database or parked program", async () => {
  const set = Bun.spawn([...claudikinsCommand, "secrets", "set", "KEPT"], {
    cwd: cwd(),
    env,
    stdin: new TextEncoder().encode(canary.keychain),
  });
  expect(await set.exited).toBe(0);
  const signed = serverConfig("signed", { url: `http://127.0.0.1:${far.port}/signed` });
  const credentials = join(home.path, "data", "claudikins", "credentials.json");
  const tokens = { access: canary.signIn, scopes: [], since: 1, obtainedAt: 1 };
  await new CredentialStore(credentials).update(signed, () => ({ server: "signed", tokens }));

  await said("gen");
  for (const argv of [["list", "--check"], ["list", "--json"], ["search", "token"], ["doctor"], ["doctor", "--json"]])
    await said(...argv);
  await said("exec", "--record", "-e", failing);
  await said("exec", "--json", "-e", "return far.x()");
  for (const argv of [["logs", "leaky"], ["logs", "dies"], ["trace", "last"], ["trace", "last", "--json"], ["stats"]])
    await said(...argv);
  for (const argv of [["secrets"], ["secrets", "--json"], ["auth", "status", "--json"], ["config", "path"], ["audit"]])
    await said(...argv);

  const id = (await said("exec", "--detach", "-e", parking)).trim();
  expect(id).toMatch(/^\w{28}$/);
  await eventually(async () => (await run("approvals")).stdout.includes("counting.act"));
  for (const argv of [
    ["executions", "show", id],
    ["approvals", "--json"],
    ["daemon", "status"],
    ["daemon", "logs"],
  ])
    await said(...argv);
  const saved = await eventually(() => {
    const texts = databaseTexts();
    return texts.some((text) => text.includes("only-in-memory")) ? texts : undefined;
  });
  expect(leaks(saved.join("\n"))).toEqual([]);

  const { url } = JSON.parse(await said("ui", "--json"));
  const page = await Page.open(url);
  for (const path of ["", "api/state", "api/tools?server=leaky", `trace?id=${id}`, `outcome?id=${id}`, `code?id=${id}`])
    expect([path, leaks(await (await page.get(path)).text())]).toEqual([path, []]);

  const [command, ...args] = [...claudikinsCommand, "serve"];
  const transport = new StdioClientTransport({ command, args, stderr: "pipe", cwd: cwd(), env });
  let log = "";
  transport.stderr?.on("data", (chunk) => {
    log += chunk;
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  const search = await client.callTool({ name: "search_tools", arguments: { query: "tells token" } });
  const failed = await client.callTool({ name: "execute_code", arguments: { code: failing } });
  await client.close();
  const answers = JSON.stringify([client.getInstructions(), search, failed]);
  expect(leaks(`${answers}${log}`)).toEqual([]);
  // The servers did repeat them.
  expect(answers).toContain("not with token ${secret:KEPT}");
  await run("daemon", "stop", "--all", "--now");
  expect(filesWithLeaks()).toEqual([]);
});
