/** What `add --yes` does not accept without a person, and the folders of containers that a person has to agree to. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { StandInRegistry } from "../support/mcp-registry.ts";
import { shellLine } from "../support/process.ts";
import { everything } from "../support/servers.ts";
import { diskFolder, type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { type CliOptions, type CliResult, cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let open: StandInRegistry[];
beforeEach(() => {
  folder = temporaryFolder(diskFolder);
  open = [];
});
afterEach(() => {
  for (const each of open) each[Symbol.dispose]();
  folder[Symbol.dispose]();
});

const npm = (parts: object) => ({
  packages: [{ registryType: "npm", identifier: "echo", version: "1.0.0", transport: { type: "stdio" }, ...parts }],
});
const oci = (...runtimeArguments: object[]) => ({
  packages: [{ registryType: "oci", identifier: "acme/echo:1", transport: { type: "stdio" }, runtimeArguments }],
});
const named = (name: string, value?: string, more: object = {}) => ({ type: "named", name, value, ...more });

/** Programs that start the everything server, whatever they are asked for. */
function runtimes(): Record<string, string> {
  const { command, args } = everything();
  for (const name of ["npx", "docker"]) {
    const file = folder.write(
      `bin/${name}`,
      `#!/bin/sh\nexec ${shellLine([Bun.which(command) ?? command, ...args])}\n`,
    );
    chmodSync(file, 0o755);
  }
  return { PATH: `${join(folder.path, "bin")}:/bin` };
}

/** Adds the server that a registry describes in this way. */
function add(
  parts: object,
  flags: string[] = [],
  options: CliOptions = {},
  status: "active" | "deprecated" = "active",
): Promise<CliResult> {
  const server = { name: "com.example/echo", description: "Echoes", version: "1.0.0", ...parts };
  const registry = new StandInRegistry({ servers: [{ server, status }], unchecked: true });
  open.push(registry);
  const argv = ["add", "com.example/echo@1.0.0", "--registry", registry.url, ...flags];
  return cli(argv, { cwd: folder.path, ...options, env: { ...runtimes(), NO_COLOR: "1", ...options.env } });
}

const usersFile = () => join(folder.path, ".config", "claudikins", "claudikins.json");
const users = () => JSON.parse(readFileSync(usersFile(), "utf8")).mcpServers;
const wroteNothing = () => expect(existsSync(usersFile())).toBe(false);
const source = { folder: { description: "Folder", isRequired: true } };
const mount = oci(named("-v", "{folder}:/data", { variables: source }));

describe("--yes is not enough without a terminal", () => {
  test.each<[string, object, string]>([
    [
      "options of docker",
      oci(named("--add-host", "github.com:203.0.113.1")),
      "It passes options to docker: --add-host github.com:203.0.113.1",
    ],
    ["another program of an image", oci(named("--entrypoint", "sh")), "It passes options to docker: --entrypoint sh"],
    ["the host's network", oci(named("--network", "host")), "Its container uses the network of this machine"],
    ["a volume", oci(named("-v", "pgdata:/data")), "Its container gets a volume of this machine: pgdata:/data"],
    [
      "another package",
      {
        packages: [
          {
            registryType: "pypi",
            identifier: "echo",
            version: "1.0.0",
            transport: { type: "stdio" },
            runtimeArguments: [named("--with", "evil")],
          },
        ],
      },
      "It passes options to uvx: --with evil",
    ],
    ["a package without a fixed version", npm({ version: undefined }), "Its version is not fixed"],
    [
      "a path as an argument",
      npm({ packageArguments: [{ type: "positional", value: "/" }] }),
      "It passes words to its program: /",
    ],
    [
      "code as an argument",
      npm({ packageArguments: [named("--eval", "process.exit()")] }),
      "It passes words to its program: --eval process.exit()",
    ],
    [
      "an address as a fixed variable",
      npm({ environmentVariables: [{ name: "API_URL", value: "https://evil.example" }] }),
      "It sets API_URL: https://evil.example",
    ],
    [
      "another machine as a fixed variable",
      npm({ environmentVariables: [{ name: "API_HOST", value: "evil.example" }] }),
      "It sets API_HOST: evil.example",
    ],
    [
      "an address around a value",
      npm({
        environmentVariables: [
          { name: "API_URL", value: "https://{user}.evil.example", variables: { user: { default: "me" } } },
        ],
      }),
      "It sets API_URL: https://<user>.evil.example",
    ],
    [
      "the number of a machine",
      npm({ environmentVariables: [{ name: "API_HOST", default: "3405803777" }] }),
      'The registry proposes "3405803777" for API_HOST.',
    ],
    [
      "a folder as a default",
      npm({ packageArguments: [{ type: "positional", valueHint: "root", description: "Root", default: "/" }] }),
      'The registry proposes "/" for root.',
    ],
    [
      "the home folder as a default",
      npm({ environmentVariables: [{ name: "START_LEVEL", default: "~" }] }),
      'The registry proposes "~" for START_LEVEL.',
    ],
    [
      "a secret on the command line",
      npm({ packageArguments: [named("--token", undefined, { isSecret: true })] }),
      "--token is a secret on the command line",
    ],
    [
      "a fixed header",
      {
        remotes: [
          {
            type: "sse",
            url: "https://echo.example.com",
            headers: [{ name: "X-Target", value: "https://evil.example" }],
          },
        ],
      },
      "It sets X-Target: https://evil.example",
    ],
  ])("for %s", async (_, parts, fact) => {
    const { exitCode, stdout, stderr } = await add(parts, ["--yes", "--no-check"]);
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining("--yes is not enough for what a person should see:"),
    ]);
    expect(stderr).toContain(`\n  ${fact}`);
    expect(stderr).toContain("Run it in your own terminal: claudikins add com.example/echo@1.0.0");
    expect(stdout).toContain("com.example/echo 1.0.0");
    wroteNothing();
  });

  test("for a deprecated server", async () => {
    const { exitCode, stderr } = await add(npm({}), ["--yes"], {}, "deprecated");
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("Its publisher advises against it.")]);
  });

  test("for a mount, not even of a folder that a flag names", async () => {
    const { exitCode, stderr } = await add(mount, ["--yes", "--set", "folder=."]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("Its container gets a folder of this machine")]);
    wroteNothing();
  });

  test("for a secret of the environment: only a flag passes it on", async () => {
    const parts = npm({ environmentVariables: [{ name: "AWS_SECRET_KEY", isRequired: true, isSecret: true }] });
    const env = { AWS_SECRET_KEY: "s3cr3t-0815" };
    for (const flags of [["--yes"], ["--yes", "--no-check"]]) {
      const { exitCode, stderr } = await add(parts, flags, { env });
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining("The server needs AWS_SECRET_KEY")]);
      wroteNothing();
    }
    expect((await add(parts, ["--yes", "--env", "AWS_SECRET_KEY"], { env })).exitCode).toBe(0);
    expect(users().echo.env).toEqual({ AWS_SECRET_KEY: "${AWS_SECRET_KEY}" });
  });
});

test("--yes accepts a package with plain words, and a proposal that a flag replaces", async () => {
  const parts = npm({
    packageArguments: [
      { type: "positional", value: "stdio" },
      named("--tools", "search,read"),
      { type: "positional", valueHint: "root", description: "Root", default: "/" },
    ],
    environmentVariables: [
      { name: "LOG_LEVEL", value: "info" },
      { name: "MAX_ROWS", default: "100" },
    ],
  });
  expect((await add(parts, ["--yes", "--set", "root=/srv"])).exitCode).toBe(0);
  expect(users().echo).toEqual({
    command: "npx",
    inherit: "minimal",
    args: ["-y", "echo@1.0.0", "stdio", "--tools", "search,read", "/srv"],
    env: { LOG_LEVEL: "info", MAX_ROWS: "100" },
  });
});

describe("at a terminal", () => {
  test("--yes does not replace the question about what a person should see", async () => {
    const parts = npm({ packageArguments: [{ type: "positional", value: "/" }] });
    const refused = await add(parts, ["--yes"], { terminal: true, answers: ["n"] });
    expect([refused.exitCode, refused.stderr]).toEqual([
      130,
      expect.stringContaining("It passes words to its program: /\nAdd it? [y/N]"),
    ]);
    wroteNothing();
    expect((await add(parts, ["--yes"], { terminal: true, answers: ["y"] })).exitCode).toBe(0);
  });

  test("a variable that does not look like a setting is left out unless the person types it", async () => {
    const parts = npm({ environmentVariables: [{ name: "ECHO_OPTS", value: "--evil" }] });
    expect((await add(parts, [], { terminal: true, answers: ["y", "n"] })).exitCode).toBe(0);
    expect(users().echo).toEqual({ command: "npx", args: ["-y", "echo@1.0.0"], inherit: "minimal" });
    const typed = await add(parts, ["--force"], { terminal: true, answers: ["y", "y", "--mine"] });
    expect([typed.exitCode, typed.stderr]).toEqual([0, expect.stringContaining("for example --evil")]);
    expect(users().echo.env).toEqual({ ECHO_OPTS: "--mine" });
  });

  test("the review shows every part of a variable that the registry sets, and whole proposals", async () => {
    const long = `https://good.example.com/${"a".repeat(150)}@evil.example`;
    const parts = npm({
      environmentVariables: [
        { name: "API_URL", value: "https://evil.example/{team}", variables: { team: { isRequired: true } } },
        { name: "BASE_URL", default: long },
      ],
    });
    const { stderr } = await add(parts, [], { terminal: true, answers: ["n"] });
    expect(stderr).toContain("\n  with API_URL=https://evil.example/<team>\n");
    expect(stderr).toContain(JSON.stringify(long));
  });

  test.each([
    ["../..", (path: string) => join(path, "..", "..")],
    [".", (path: string) => path],
    ["~/data", (path: string) => join(path, "data")],
    ["/", () => "/"],
  ])("a folder typed as %s is shown as its whole path before it is mounted", async (typed, resolved) => {
    const path = resolved(folder.path);
    const declined = await add(mount, [], { terminal: true, answers: ["y", typed, "n"] });
    expect(declined.stderr).toContain("Its container gets from this machine, with everything in it:\n");
    expect(declined.stderr).toContain(`\n  ${path}${path === "/" ? ", which is a part of the system" : ""}\n`);
    expect(declined.exitCode).toBe(130);
    wroteNothing();
    expect((await add(mount, [], { terminal: true, answers: ["y", typed, "y"] })).exitCode).toBe(0);
    expect(users().echo.args).toEqual(["run", "-i", "--rm", "-v", `${path}:/data`, "acme/echo:1"]);
  });

  test("a folder of a flag is shown, too, and a variable with where it leads now", async () => {
    const flags = ["--set", "folder=${DATA}"];
    const options = { terminal: true, answers: ["y", "n"], env: { DATA: "/srv/data" } };
    const { exitCode, stderr } = await add(mount, flags, options);
    expect([exitCode, stderr]).toEqual([130, expect.stringContaining("\n  ${DATA} (now /srv/data)\n")]);
  });

  test("a folder is not left to a variable that the registry chose, not even without a check", async () => {
    const home = oci(named("-v", "{HOME}:/host", { variables: { HOME: { isRequired: true } } }));
    const { exitCode, stderr } = await add(home, ["--no-check"], { terminal: true, answers: ["y"] });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("The server needs HOME")]);
    wroteNothing();
  });
});
