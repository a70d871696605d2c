/** The executable in a folder with hostile files: it runs none of them, and ignores their settings. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { executable } from "../support/claudikins.ts";
import { type HostileFolder, hostileFolder } from "../support/hostile-folder.ts";
import { networkFixture } from "../support/network.ts";
import { runProgram } from "../support/process.ts";

// The first test builds the executable.
setDefaultTimeout(120_000);

const { PATH = "" } = process.env;

/** The user's own environment: an absolute PATH and a home. */
const userEnvironment = ({ home }: HostileFolder, more: Record<string, string> = {}) => ({
  PATH,
  HOME: home,
  XDG_CONFIG_HOME: join(home, "config"),
  XDG_DATA_HOME: join(home, "data"),
  XDG_CACHE_HOME: join(home, "cache"),
  XDG_STATE_HOME: join(home, "state"),
  ...more,
});

const run = (folder: HostileFolder, args: string[], env: Record<string, string> = {}, cwd = folder.cwd) =>
  runProgram([executable(), ...args], { cwd, env: userEnvironment(folder, env) });

test.each([
  [["--version"]],
  [["--help"]],
  [["complete", "fish", "--", "ex"]],
  [["complete", "bash", "--", ":=", "claudikins call demo."]],
  [["list"]],
  [["gen"]],
  [["search", "refund an order"]],
  [["exec", "-e", "return (await demo.list_orders({ status: 'paid' })).total"]],
  [["call", "demo.get_order", "order_id=ord_00042"]],
  [["doctor"]],
  [["skill", "install", "--project"]],
])("%j runs no file of its working directory", async (args) => {
  using folder = hostileFolder();
  const { stderr } = await run(folder, args);
  expect({ marks: folder.marks(), stderr }).toEqual({ marks: [], stderr: expect.not.stringContaining("panic") });
});

test("files that code wrote to its workspace are not run if the user's shell is there", async () => {
  using folder = hostileFolder();
  const { exitCode } = await run(folder, ["--version"], {}, join(folder.cwd, "workspace", "outputs"));
  expect({ exitCode, marks: folder.marks() }).toEqual({ exitCode: 0, marks: [] });
});

test.each(["NODE_ENV=production", "NODE_ENV=test", "BUN_ENV=development", "NODE_ENV=development"])(
  "no .env file sets a variable, even with %s",
  async (mode) => {
    using folder = hostileFolder();
    const [name = "", value = ""] = mode.split("=");
    // The config would be the one in the .env file, and the log would be on stderr.
    const { exitCode, stdout, stderr } = await run(folder, ["list", "--json"], { [name]: value });
    expect({ exitCode, stderr, marks: folder.marks() }).toEqual({ exitCode: 0, stderr: "", marks: [] });
    expect(JSON.parse(stdout).servers.map(({ server }: { server: string }) => server)).toEqual(["demo"]);
  },
);

test("variables of the config are not taken from .env", async () => {
  using folder = hostileFolder();
  const entry = { command: "node", args: ["--version"], env: { A: "${LOADED_FROM_DOTENV}" } };
  folder.write("parent/cwd/claudikins.json", { mcpServers: { one: entry } });
  const { stdout } = await run(folder, ["list", "--json"]);
  expect(JSON.parse(stdout).servers).toMatchObject([{ state: "needs", variables: ["LOADED_FROM_DOTENV"] }]);
});

test.each(["", "bin", ".", "./bin", "../cwd"])(
  "a program of the folder does not replace the user's if PATH begins with %j",
  async (entry) => {
    using folder = hostileFolder();
    const server = join(import.meta.dir, "..", "fixtures", "servers", "tiny.sh");
    const tools = folder.write("tools.json", '[{"name":"t","inputSchema":{"type":"object"}}]');
    folder.write("home/config/claudikins/claudikins.json", {
      mcpServers: {
        shell: { command: "sh", args: [server, tools] },
        program: { command: "env", args: ["sh", server, tools] },
      },
    });
    const { stdout, stderr } = await run(folder, ["list", "--check", "--json"], { PATH: `${entry}:${PATH}` });
    expect(folder.marks()).toEqual([]);
    const { servers } = JSON.parse(stdout || stderr);
    expect(servers).toMatchObject([{ state: "ready" }, { state: "ready" }]);
  },
);

test("a HOME that is a relative path is ignored", async () => {
  using folder = hostileFolder();
  folder.write("parent/cwd/.config/claudikins/claudikins.json", { mcpServers: { evil: { command: "./sh" } } });
  const { stdout } = await runProgram([executable(), "list", "--json", "--check"], {
    cwd: folder.cwd,
    env: { PATH, HOME: ".", XDG_CONFIG_HOME: "", XDG_DATA_HOME: join(folder.path, "data"), XDG_CACHE_HOME: "" },
  });
  expect(folder.marks()).toEqual([]);
  expect(JSON.parse(stdout).servers.map(({ server }: { server: string }) => server)).toEqual(["demo"]);
});

test.each([
  ["the .env file of a folder", {}],
  ["the environment", { NODE_TLS_REJECT_UNAUTHORIZED: "0" }],
])(
  "%s cannot turn off the check of certificates: no token is sent to an untrusted server",
  async (_, env: Record<string, string>) => {
    using folder = hostileFolder();
    const [key, cert] = [join(folder.path, "key.pem"), join(folder.path, "cert.pem")];
    const about = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert];
    expect(Bun.spawnSync(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", ...about]).exitCode).toBe(0);
    await using server = await networkFixture("http", { args: [key, cert] });
    for (const url of [`https://127.0.0.1:${server.port}/mcp`, `wss://127.0.0.1:${server.port}/mcp`]) {
      const far = { url, headers: { Authorization: "Bearer s3cret" } };
      folder.write("home/config/claudikins/claudikins.json", { mcpServers: { far } });
      const { exitCode, stderr } = await run(folder, ["call", "far.echo", "--no-daemon"], env);
      expect({ exitCode, stderr }).toEqual({ exitCode: 4, stderr: expect.stringMatching(/certificate|self.signed/i) });
    }
  },
);
