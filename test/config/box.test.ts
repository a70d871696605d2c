/** `sandbox` in a config: its forms, its defaults, and what a project may change of it. */
import { describe, expect, test } from "bun:test";
import { loadConfig } from "../../src/config/load.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { withoutMistakes } from "../support/config-mistakes.ts";
import { temporaryFolder } from "../support/temporary.ts";

const closed = { read: [], write: [], network: false };

/** The sandboxes of all servers that a project has, with the user's own config beside it. */
async function sandboxes(project: object, user: object = {}): Promise<Record<string, unknown>> {
  using folder = temporaryFolder();
  folder.write("home/.config/claudikins/claudikins.json", { mcpServers: {}, ...user });
  folder.write("project/claudikins.json", { mcpServers: {}, ...project });
  const env = { HOME: `${folder.path}/home`, XDG_CONFIG_HOME: `${folder.path}/home/.config`, NOTES: "/srv/notes" };
  const config = await loadConfig({ cwd: `${folder.path}/project`, env, trust: true });
  return Object.fromEntries(
    [...config.servers].map(([name, server]) => [name, server.url === undefined && server.box]),
  );
}

const program = (sandbox?: unknown) => ({ command: "server", ...(sandbox === undefined ? {} : { sandbox }) });

const problemsOf = (entry: object) => {
  try {
    withoutMistakes(parseConfig(JSON.stringify({ mcpServers: { a: entry } }), "claudikins.json"));
    return "";
  } catch (error) {
    return (error as Error).message.replace(/^.*\n\s*claudikins.json:\d+:\d+\s*/, "");
  }
};

describe("sandbox", () => {
  test("is off without the key, and opens what an entry names", async () => {
    const box = { read: ["~/x"], write: ["${NOTES}"], network: ["api.example.com"] };
    const mcpServers = { none: program(), off: program(false), on: program(true), box: program(box) };
    expect(await sandboxes({ mcpServers })).toEqual({
      none: undefined,
      off: undefined,
      on: closed,
      box: { ...box, write: ["/srv/notes"] },
    });
  });

  test("has a default for the entries that have none", async () => {
    const mcpServers = { none: program(), off: program(false), box: program({ network: true }) };
    expect(await sandboxes({ sandbox: true, mcpServers })).toEqual({
      none: closed,
      off: undefined,
      box: { ...closed, network: true },
    });
  });

  test.each([
    [{ sandbox: "yes" }, "mcpServers.a.sandbox: "],
    [{ sandbox: { writes: [] } }, 'mcpServers.a.sandbox.writes: unknown key, did you mean "write"?'],
    [{ sandbox: { network: ["https://example.com"] } }, "mcpServers.a.sandbox"],
    [{ sandbox: { write: "/tmp" } }, "mcpServers.a.sandbox"],
  ])("refuses %j", (entry, problem) => {
    expect(problemsOf({ command: "server", ...entry })).toStartWith(problem);
  });

  test("is refused for a server on the network, which would run unconfined", () => {
    expect(problemsOf({ url: "https://example.com/mcp", sandbox: true })).toContain("mcpServers.a.sandbox: ");
    expect(problemsOf({ url: "https://example.com/mcp", sandbox: false })).toBe("");
  });
});

describe("a project", () => {
  const own = { mcpServers: { mine: program({ write: ["/srv/mine"] }) } };
  const mine = { ...closed, write: ["/srv/mine"] };

  test("does not change the sandbox of the user's own servers by its default", async () => {
    expect(await sandboxes({ sandbox: { network: true } }, own)).toEqual({ mine });
    expect(await sandboxes({ sandbox: false }, { ...own, sandbox: true })).toEqual({ mine });
  });

  test("does not lift or widen the sandbox of the user's own entry by one of the same name", async () => {
    for (const sandbox of [undefined, false, { write: ["/"], network: true }]) {
      expect(await sandboxes({ mcpServers: { mine: program(sandbox) } }, own)).toEqual({ mine });
    }
  });

  test("cannot do without the user's default, and may ask for more than it", async () => {
    const mcpServers = { none: program(), off: program(false), box: program({ read: ["/srv"] }) };
    expect(await sandboxes({ mcpServers }, { sandbox: true })).toEqual({
      none: closed,
      off: closed,
      box: { ...closed, read: ["/srv"] },
    });
  });

  test("may confine a server that the user's own config does not confine", async () => {
    expect(await sandboxes({ mcpServers: { a: program(true) } }, { mcpServers: { a: program() } })).toEqual({
      a: closed,
    });
  });
});
