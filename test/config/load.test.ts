/** The loaded config: expanded, with absolute paths, and with the demo if there is no file. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are what is tested
import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { defaultLimits } from "../../src/config/defaults.ts";
import { loadConfig } from "../../src/config/load.ts";
import { demoFromSource } from "../support/built-demo.ts";
import { root } from "../support/claudikins.ts";
import { ownFolder } from "../support/own-folder.ts";
import { temporaryFolder } from "../support/temporary.ts";

const folder = ownFolder();

const load = (env: Record<string, string> = {}, flag?: string) =>
  loadConfig({ flag, cwd: folder.path, env: { HOME: join(folder.path, "home"), CI: "true", ...env } });

const times = { startTimeoutMs: 30_000, callTimeoutMs: 60_000, idleTimeoutMs: 300_000 };
const settings = { ...times, keepAlive: false, maxCallsInFlight: 100 };
const defaults = { args: [], env: {}, disabled: false, ...settings };

describe("servers", () => {
  test("the variables of a headersHelper are left to the shell, and its folder starts at the config file", async () => {
    const headersHelper = "./headers --token ${TOKEN} ${OTHER:-none}";
    const url = "https://${HOST}/mcp";
    folder.write("claudikins.json", {
      mcpServers: {
        one: { url, headersHelper },
        two: { url, headersHelper, cwd: "./${DIR}" },
        three: { url, cwd: "./x" },
      },
    });
    const { servers } = await load({ HOST: "example.com", TOKEN: "$(touch /tmp/x)", DIR: "bin" });
    expect([...servers.values()].map(({ name, needs, ...server }) => [name, needs, server])).toEqual([
      ["one", [], expect.objectContaining({ headersHelper, cwd: folder.path, url: "https://example.com/mcp" })],
      ["two", [], expect.objectContaining({ headersHelper, cwd: join(folder.path, "bin") })],
      ["three", [], expect.not.objectContaining({ cwd: expect.anything() })],
    ]);
    expect(JSON.stringify([...servers.values()])).not.toContain("touch");
  });

  test("a missing variable affects only its server", async () => {
    folder.write("claudikins.json", {
      mcpServers: {
        github: { command: "npx", args: ["${PACKAGE:-server-github}"], env: { TOKEN: "${GITHUB_TOKEN}" } },
        several: { command: "${A}/bin/${B}", env: { X: "${A}" }, cwd: "${C:-.}" },
        fine: { command: "x", env: { TOKEN: "${SET}" } },
      },
    });
    const { servers } = await load({ SET: "s" });
    const definitions = { mode: "lock" as const, config: join(folder.path, "claudikins.json") };
    expect(Object.fromEntries(servers)).toEqual({
      github: {
        name: "github",
        command: "npx",
        ...defaults,
        args: ["server-github"],
        env: { TOKEN: "${GITHUB_TOKEN}" },
        cwd: undefined,
        needs: ["GITHUB_TOKEN"],
        variables: {},
        definitions,
      },
      several: {
        name: "several",
        command: "${A}/bin/${B}",
        ...defaults,
        env: { X: "${A}" },
        cwd: folder.path,
        needs: ["A", "B"],
        variables: {},
        definitions,
      },
      fine: {
        name: "fine",
        command: "x",
        ...defaults,
        env: { TOKEN: "s" },
        cwd: undefined,
        needs: [],
        variables: { SET: "s" },
        definitions,
      },
    });
  });

  test("a disabled server is omitted, and its variables are not needed", async () => {
    folder.write("claudikins.json", {
      mcpServers: { off: { command: "x", args: ["${NOT_SET}"], disabled: true }, on: { command: "y" } },
    });
    expect([...(await load()).servers.keys()]).toEqual(["on"]);
  });

  test("the transport and the missing variables of a network server depend on its variables", async () => {
    folder.write("claudikins.json", {
      mcpServers: {
        far: { url: "https://${HOST}/mcp", headers: { Authorization: "Bearer ${TOKEN}" } },
        sockets: { url: "${SOCKETS}" },
        near: { command: "x" },
      },
    });
    const { servers } = await load({ TOKEN: "t", SOCKETS: "wss://example.com" });
    const definitions = { mode: "lock" as const, config: join(folder.path, "claudikins.json") };
    const network = { disabled: false, ...settings, definitions };
    expect(Object.fromEntries(servers)).toEqual({
      far: {
        name: "far",
        url: "https://${HOST}/mcp",
        headers: { Authorization: "Bearer t" },
        transport: "auto",
        ...network,
        needs: ["HOST"],
        variables: { TOKEN: "t" },
      },
      sockets: {
        name: "sockets",
        url: "wss://example.com",
        headers: {},
        transport: "websocket",
        ...network,
        needs: [],
        variables: { SOCKETS: "wss://example.com" },
      },
      near: { name: "near", command: "x", ...defaults, cwd: undefined, needs: [], variables: {}, definitions },
    });
  });
});

describe("folders", () => {
  test("relative paths are resolved against the config file, not the working directory", async () => {
    const file = folder.write("conf/mine.json", {
      mcpServers: {
        below: { command: "x", cwd: "sub" },
        beside: { command: "x", cwd: "../other" },
        absolute: { command: "x", cwd: "/tmp" },
        home: { command: "x", cwd: "${HOME}/x" },
        none: { command: "x" },
      },
      registry: "reg",
      workspace: "../${NAME:-work}",
    });
    const { origin, servers, folders } = await load({}, "conf/mine.json");
    expect(origin).toEqual({ kind: "project", file });
    expect([...servers.values()].map((server) => server.url === undefined && server.cwd)).toEqual([
      join(folder.path, "conf", "sub"),
      join(folder.path, "other"),
      "/tmp",
      join(folder.path, "home", "x"),
      undefined,
    ]);
    expect(folders).toEqual({
      registry: join(folder.path, "conf", "reg"),
      workspace: join(folder.path, "work"),
      bases: { registry: join(folder.path, "conf"), workspace: join(folder.path, "work") },
      workspaceName: join(folder.path, "work"),
    });
  });

  test("a project's folders are beside its config, and those of the user and the demo are in the data folder", async () => {
    const home = join(folder.path, "home");
    expect((await load()).folders).toEqual({
      registry: join(home, ".local", "share", "claudikins", "demo", "registry"),
      workspace: expect.stringContaining(
        join(home, ".local", "share", "claudikins", "demo", "workspaces", "claudikins-test-"),
      ),
      bases: {
        registry: join(home, ".local", "share", "claudikins"),
        workspace: join(home, ".local", "share", "claudikins"),
      },
      workspaceName: expect.stringContaining(`demo: ${join("demo", "workspaces", "claudikins-test-")}`),
    });
    const user = folder.write("home/.config/claudikins/claudikins.json", {});
    expect((await load({ XDG_DATA_HOME: "/data" })).folders).toEqual({
      registry: "/data/claudikins/registry",
      workspace: expect.stringContaining("/data/claudikins/workspaces/claudikins-test-"),
      bases: { registry: "/data/claudikins", workspace: "/data/claudikins" },
      // The same on a replica with another data folder.
      workspaceName: expect.stringContaining(`${user}: ${join("workspaces", "claudikins-test-")}`),
    });
    folder.write("claudikins.json", {});
    expect((await load()).folders).toEqual({
      registry: join(folder.path, ".claudikins", "registry"),
      workspace: join(folder.path, ".claudikins", "workspace"),
      bases: { registry: folder.path, workspace: folder.path },
      workspaceName: join(folder.path, ".claudikins", "workspace"),
    });
  });

  test("a folder whose variable is missing is an error", async () => {
    const file = folder.write("claudikins.json", { registry: "${REG}", workspace: "${WORK}/${REG}" });
    await expect(load()).rejects.toMatchObject({
      code: "NEEDS_VARIABLE",
      message: `The folders in ${file} need REG, WORK in the environment`,
      hint: "Set REG, WORK before starting claudikins, or add a default to the config: ${REG:-value}.",
    });
  });

  test.each([
    ["this config", { workspace: "." }],
    ["the registry", { workspace: "work", registry: "work/registry" }],
    ["your own config", { workspace: "home/.config" }],
    ["claudikins' own data", { workspace: "home/.local" }],
  ])("a workspace that contains %s is refused", async (what, config) => {
    const file = folder.write("claudikins.json", config);
    const workspace = join(folder.path, config.workspace);
    const message = `The workspace of ${file} is ${workspace}: it contains ${what}, and sandboxed code may write there`;
    await expect(load()).rejects.toMatchObject({ code: "CONFIG_INVALID", message });
  });
});

describe("the demo", () => {
  test("without a config, the demo is the only server, and is started from this program", async () => {
    using _demo = demoFromSource();
    const { origin, servers, limits } = await load();
    expect(origin).toEqual({ kind: "demo" });
    expect(limits).toEqual(defaultLimits);
    expect([...servers.keys()]).toEqual(["demo"]);
    expect(servers.get("demo")).toMatchObject({
      name: "demo",
      command: process.execPath,
      args: [join(root, "src", "main.ts"), "demo"],
      needs: [],
      ...times,
    });
  });
});

describe("files that cannot be read", () => {
  test("reading a folder is an error", async () => {
    const path = join(folder.path, "conf");
    mkdirSync(path);
    await expect(load({}, "conf")).rejects.toMatchObject({
      code: "FILE_NOT_FOUND",
      exitCode: 2,
      message: `Cannot read the config file ${path}: it is a folder`,
    });
  });

  // root can read every file.
  test.skipIf(process.getuid?.() === 0)("reading a file without permission is an error", async () => {
    const file = folder.write("claudikins.json", {});
    chmodSync(file, 0);
    await expect(load()).rejects.toMatchObject({
      code: "FILE_NOT_FOUND",
      message: expect.stringContaining(`Cannot read the config file ${file}: EACCES`),
    });
  });

  test("problems name the file by its absolute path", async () => {
    const file = folder.write("claudikins.json", "{ nope }");
    await expect(load()).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: `The config has a problem:\n  ${file}:1:3  not valid JSON: invalid symbol`,
    });
  });
});

describe("the model that executes tasks", () => {
  async function llmIn(llm: unknown, env: Record<string, string> = {}) {
    using folder = temporaryFolder();
    folder.write("claudikins.json", { mcpServers: {}, llm });
    return (await loadConfig({ cwd: folder.path, env: { HOME: folder.path, CI: "true", ...env } })).llm;
  }

  test("a preset sets the address, a small model, and the usual variable of its key", async () => {
    expect(await llmIn({ preset: "cerebras" }, { CEREBRAS_API_KEY: "k-1" })).toMatchObject({
      name: "cerebras",
      baseUrl: "https://api.cerebras.ai/v1",
      apiKey: "k-1",
      model: "gpt-oss-120b",
      variable: "CEREBRAS_API_KEY",
      needs: [],
      timeoutMs: 30_000,
    });
    expect(await llmIn({ preset: "ollama", model: "x" })).toMatchObject({ model: "x", apiKey: undefined, needs: [] });
  });

  test("a missing key of the model does not make the config invalid", async () => {
    expect(await llmIn({ preset: "gemini" })).toMatchObject({ needs: ["GEMINI_API_KEY"] });
    expect(await llmIn({ baseUrl: "https://${AT}/v1/", model: "m", apiKey: "${K}" }, { AT: "h:1" })).toMatchObject({
      name: "h:1",
      baseUrl: "https://h:1/v1",
      variable: "K",
      needs: ["K"],
    });
  });

  test.each([
    [{}, 'llm: needs "preset" (cerebras, gemini, openai, openrouter, ollama) or "baseUrl"'],
    [{ baseUrl: "https://a" }, "llm.model: missing, expected a model name"],
    [{ preset: "acme" }, "llm.preset: expected"],
    [
      { baseUrl: "file:///top-secret", model: "m" },
      "llm.baseUrl: expected an address that starts with http:// or https://",
    ],
    [{ preset: "openai", apikey: "top-secret" }, 'llm.apikey: unknown key, did you mean "apiKey"?'],
    [{ preset: "openai", temperature: 1 }, "llm.temperature: unknown key: expected one of preset, baseUrl,"],
    [{ preset: "openai", apiKey: 7_777_777 }, "llm.apiKey: expected a string"],
    [{ preset: "openai", timeoutMs: 0 }, "llm.timeoutMs: must be at least 1, found 0"],
    ["host", "llm: expected an object"],
  ])("%j is a problem, with its path and without a secret", async (llm, problem) => {
    const error = await llmIn(llm).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "CONFIG_INVALID" });
    expect(String(error)).toContain(problem);
    expect(String(error)).not.toMatch(/top-secret|7777777|7_777_777/);
  });
});
