/** The plugin, the marketplace, the registry entry and the install links: up to date, of the right form, and leading to claudikins. */
import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { unzipSync } from "fflate";
import manifest from "../../package.json" with { type: "json" };
import { npxWords, registryName } from "../../scripts/plugins/about.ts";
import { bundleOf, hasBundle } from "../../scripts/plugins/bundle.ts";
import { installLinks, linkedEntry, webLinks } from "../../scripts/plugins/install-links.ts";
import { geminiArchiveName } from "../../scripts/plugins/plugin-files.ts";
import { generatedFiles } from "../../scripts/plugins/write.ts";
import { isClaudikinsCommand } from "../../src/setup/agents/supported/claudikins-entry.ts";
import { platforms } from "../../src/setup/upgrade/platforms.ts";
import { root } from "../support/claudikins.ts";
import { temporaryFolder } from "../support/temporary.ts";
import schema from "./server.schema.json" with { type: "json" };

const read = (path: string) => readFileSync(join(root, path), "utf8");
const readJson = (path: string) => JSON.parse(read(path));

describe("the generated files", () => {
  test.each(generatedFiles().map((file) => [file.path, file] as const))(
    "%s is up to date; otherwise, run: bun run plugins",
    (path, { content, isExecutable = false }) => {
      expect(read(path)).toBe(content);
      expect((statSync(join(root, path)).mode & 0o111) !== 0).toBe(isExecutable);
    },
  );

  test("there are no others in deploy/plugin", () => {
    const found = readdirSync(join(root, "deploy", "plugin"), { recursive: true, withFileTypes: true });
    const files = found.filter((each) => each.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const known = generatedFiles().map(({ path }) => join(root, path));
    expect(files.filter((file) => !known.includes(file))).toEqual([]);
  });
});

test("each manifest has the version of package.json and starts claudikins serve", () => {
  const files = [".claude-plugin/plugin.json", ".codex-plugin/plugin.json", "gemini-extension.json"];
  for (const file of files) {
    const { name, version, mcpServers } = readJson(`deploy/plugin/${file}`);
    expect([name, version]).toEqual(["claudikins", manifest.version]);
    const { command, args } = mcpServers.claudikins;
    expect(isClaudikinsCommand([command, ...args])).toBe(true);
    expect(args.at(-1)).toBe("serve");
  }
});

test("the marketplace leads to the plugin", () => {
  const { plugins } = readJson(".claude-plugin/marketplace.json");
  expect(plugins).toHaveLength(1);
  expect(readJson(join(plugins[0].source, ".claude-plugin", "plugin.json")).name).toBe(plugins[0].name);
});

test("server.json has the form of the official registry and names the npm package", () => {
  const ajv = addFormats.default(new Ajv({ allErrors: true }));
  const isValid = ajv.compile(schema);
  const entry = readJson("deploy/server.json");
  isValid(entry);
  expect(isValid.errors).toBeNull();
  expect(isValid({ ...entry, description: "d".repeat(101) })).toBe(false);
  expect(entry.name).toBe(registryName);
  expect(entry.packages).toMatchObject([{ identifier: manifest.name, version: manifest.version }]);
});

test("Gemini CLI finds one file of a release for each operating system", () => {
  const names = [
    ...platforms.flatMap(({ name }) => [`claudikins-${name}.tar.gz`, `claudikins-${name}.mcpb`]),
    ...new Set(platforms.map(({ os }) => geminiArchiveName(os))),
  ];
  for (const { os } of platforms) expect(names.filter((name) => name.startsWith(`${os}.`))).toHaveLength(1);
});

describe("an install link", () => {
  const start = { name: "claudikins", ...linkedEntry };

  test("starts the newest claudikins through npx, without the project's settings", () => {
    expect([linkedEntry.command, ...linkedEntry.args]).toEqual([...npxWords, "serve"]);
    expect(isClaudikinsCommand([linkedEntry.command, ...linkedEntry.args])).toBe(true);
    expect(npxWords).toEqual(["npx", "--prefix", "/", "-y", "claudikins"]);
  });

  test("has the entry for VS Code, also behind the web page", () => {
    const decoded = (link: string) => JSON.parse(decodeURIComponent(link.slice("vscode:mcp/install?".length)));
    expect(decoded(installLinks.vscode)).toEqual(start);
    const { origin, pathname, searchParams } = new URL(webLinks.vscode);
    expect(origin + pathname).toBe("https://insiders.vscode.dev/redirect");
    expect(searchParams.get("url")).toBe(installLinks.vscode);
  });

  test.each(["cursor://anysphere.cursor-deeplink/mcp/install", "https://cursor.com/en/install-mcp"])(
    "has the entry for Cursor: %s",
    (page) => {
      const link = [installLinks.cursor, webLinks.cursor].find((each) => each.startsWith(page));
      const { searchParams } = new URL(link ?? "");
      expect(searchParams.get("name")).toBe("claudikins");
      expect(JSON.parse(atob(searchParams.get("config") ?? ""))).toEqual(linkedEntry);
    },
  );

  test("is in the docs as it is generated", () => {
    const page = read("docs/plugins.md");
    for (const link of Object.values(webLinks)) expect(page).toContain(link);
  });
});

describe("a bundle", () => {
  const platform = platforms.find(hasBundle)!;
  const executable = Buffer.from("an executable");

  test("has a manifest and an executable, and the same bytes each time", () => {
    const bundle = bundleOf(platform, executable, "1.2.3");
    expect(bundleOf(platform, executable, "1.2.3")).toEqual(bundle);
    const files = unzipSync(bundle);
    expect(Object.keys(files)).toEqual(["manifest.json", platform.executable]);
    const { version, server, compatibility, tools } = JSON.parse(Buffer.from(files["manifest.json"]!).toString());
    expect(version).toBe("1.2.3");
    expect(server.mcp_config).toEqual({ command: `\${__dirname}/${platform.executable}`, args: ["serve"], env: {} });
    expect(compatibility).toEqual({ platforms: [platform.os] });
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(["search_tools", "execute_code"]);
  });

  test("is made for macOS and Windows", () => {
    expect(platforms.filter(hasBundle).map(({ name }) => name)).toEqual(["darwin-x64", "darwin-arm64", "windows-x64"]);
  });
});

describe.if(process.platform !== "win32")("the launcher", () => {
  const launcher = join(root, "deploy", "plugin", "bin", "claudikins");

  /** Starts the launcher with programs that print their name and arguments. */
  function launch(folder: string, path: string[], more: Record<string, string> = {}) {
    const { stdout, stderr, exitCode } = Bun.spawnSync(["/bin/sh", launcher, "serve", "--config", "a b *"], {
      cwd: folder,
      env: { HOME: join(folder, "home"), PATH: path.join(":"), ...more },
    });
    return { out: stdout.toString(), err: stderr.toString(), exitCode };
  }

  function program(folder: { path: string; write(name: string, text: string): string }, name: string): string {
    const file = folder.write(name, `#!/bin/sh\necho "${name}|$*|$(/bin/pwd)"\n`);
    chmodSync(file, 0o755);
    return file;
  }

  test("starts the installed claudikins in the same folder, from the PATH or the usual place", () => {
    using folder = temporaryFolder();
    const { path } = folder;
    program(folder, "npx/npx");
    program(folder, "home/.local/bin/claudikins");
    const usual = { out: `home/.local/bin/claudikins|serve --config a b *|${path}\n`, err: "", exitCode: 0 };
    expect(launch(path, [join(path, "npx")])).toEqual(usual);
    program(folder, "first/claudikins");
    expect(launch(path, [join(path, "none"), join(path, "first"), join(path, "npx")]).out).toStartWith("first/");
    program(folder, "chosen/claudikins");
    const chosen = launch(path, [join(path, "npx")], { CLAUDIKINS_INSTALL: join(path, "chosen") });
    expect(chosen.out).toStartWith("chosen/");
  });

  test("starts npx if the PATH has only launchers, and no program of the project", () => {
    using folder = temporaryFolder();
    const { path } = folder;
    program(folder, "npx/npx");
    program(folder, "claudikins");
    program(folder, "bin/claudikins");
    program(folder, "other-version/bin/claudikins");
    folder.write("other-version/gemini-extension.json", "{}");
    const places = [".", "bin", "", join(path, "other-version", "bin"), join(launcher, ".."), join(path, "npx")];
    const { out, exitCode } = launch(path, places);
    expect([out, exitCode]).toEqual([`npx/npx|--prefix / -y claudikins serve --config a b *|${path}\n`, 0]);
  });

  /** All the ways in which PATH can name the working directory, or a folder in it. */
  const relativePaths: ((real: string) => string)[] = [
    (real) => `.:${real}`,
    (real) => `:${real}`,
    (real) => `${real}:`,
    (real) => `${real}::/nowhere`,
    (real) => `./:${real}`,
    (real) => `bin:${real}`,
    (real) => `../project:${real}`,
    () => ".",
    () => "",
    () => ":",
  ];

  test.each(relativePaths.map((pathOf) => [pathOf("REAL"), pathOf] as const))(
    "starts no program of the project with the PATH %j: neither npx, nor a node that npx starts, nor claudikins",
    (_, pathOf) => {
      using folder = temporaryFolder();
      for (const place of ["project", "project/bin"]) {
        for (const name of ["npx", "node", "claudikins", "sh", "env"]) program(folder, `${place}/${name}`);
      }
      // As npm installs it, but with a program that is nowhere else.
      const npx = folder.write("real/npx", `#!/bin/sh\necho "npx with $PATH"; command -v only-here; env node\n`);
      chmodSync(npx, 0o755);
      program(folder, "real/node");
      program(folder, "project/only-here");
      const real = join(folder.path, "real");
      const path = pathOf(`${real}:/usr/bin:/bin`);
      const { out } = launch(join(folder.path, "project"), [path]);
      const hasReal = path.includes(real);
      expect(out).not.toContain("project/");
      expect(out.includes("real/node|")).toBe(hasReal);
    },
  );

  test("says what to install if there is neither claudikins nor npx", () => {
    using folder = temporaryFolder();
    const { out, err, exitCode } = launch(folder.path, ["/nonexistent"]);
    expect([out, exitCode]).toEqual(["", 127]);
    expect(err).toMatchInlineSnapshot(`
      "error: claudikins is not installed, and there is no npx to start it with
      hint: install claudikins or Node.js: https://github.com/claudikins/claudikins#install
      "
    `);
  });

  test("is beside the manifest by which it recognises launchers", () => {
    expect(existsSync(join(launcher, "..", "..", "gemini-extension.json"))).toBe(true);
  });
});
