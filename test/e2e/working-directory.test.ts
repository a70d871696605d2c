/** The executable in a folder that somebody hostile has prepared: nothing there is run, and nothing there counts. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { executable } from "../support/claudikins.ts";
import { type HostileFolder, hostileFolder } from "../support/hostile-folder.ts";
import { networkFixture } from "../support/network.ts";
import { runProgram } from "../support/process.ts";

// The first test builds the executable.
setDefaultTimeout(120_000);

const { PATH = "" } = process.env;

/** The user's own environment: an absolute PATH, a home, and nothing else. */
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
])("%j runs nothing of the folder that it is started in", async (args) => {
  using folder = hostileFolder();
  const { stderr } = await run(folder, args);
  expect({ marks: folder.marks(), stderr }).toEqual({ marks: [], stderr: expect.not.stringContaining("panic") });
});

test("what code has written to its workspace runs nothing when somebody stands there", async () => {
  using folder = hostileFolder();
  const { exitCode } = await run(folder, ["--version"], {}, join(folder.cwd, "workspace", "outputs"));
  expect({ exitCode, marks: folder.marks() }).toEqual({ exitCode: 0, marks: [] });
});

test.each(["NODE_ENV=production", "NODE_ENV=test", "BUN_ENV=development", "NODE_ENV=development"])(
  "no .env file sets a variable, with %s either",
  async (mode) => {
    using folder = hostileFolder();
    const [name = "", value = ""] = mode.split("=");
    // The config would be that of the .env file, and the log would be on stderr.
    const { exitCode, stdout, stderr } = await run(folder, ["list", "--json"], { [name]: value });
    expect({ exitCode, stderr, marks: folder.marks() }).toEqual({ exitCode: 0, stderr: "", marks: [] });
    expect(JSON.parse(stdout).servers.map(({ server }: { server: string }) => server)).toEqual(["demo"]);
  },
);

test("a variable in .env fills in nothing of the config", async () => {
  using folder = hostileFolder();
  const entry = { command: "node", args: ["--version"], env: { A: "${LOADED_FROM_DOTENV}" } };
  folder.write("parent/cwd/claudikins.json", { mcpServers: { one: entry } });
  const { stdout } = await run(folder, ["list", "--json"]);
  expect(JSON.parse(stdout).servers).toMatchObject([{ state: "needs", variables: ["LOADED_FROM_DOTENV"] }]);
});

test.each(["", "bin", ".", "./bin", "../cwd"])(
  "a program of the folder does not stand in for the user's where the PATH begins with %j",
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

test("a home that is a relative path is nobody's", async () => {
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
  "%s does not turn the check of certificates off: no token is sent to a server that nobody vouches for",
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
