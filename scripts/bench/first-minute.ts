/**
 * The first minute: from a home without claudikins to the first answer of a tool, as a person who uses Claude Code with four servers
 * meets it. Everything is downloaded from a registry and a release server on this machine, so nobody's time includes the network.
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Registry } from "../../test/install/registry.ts";
import { root } from "../../test/support/claudikins.ts";
import { inTurn } from "./measure.ts";
import { outputOf } from "./peers/npm.ts";
import { type Other, type Row, rowOf, type Unit } from "./report.ts";
import { absent, type Measure } from "./section.ts";

/** What a person does, and how the agent then gets its first answer. */
interface Way {
  /** Commands that the person types, in the home folder. */
  commands: string[];
  /** Questions that the person answers, with the answer that goes on. */
  questions: number;
  /** Finds a tool that adds two numbers and calls it, as an agent would. Throws if the sum is wrong. */
  answer(home: Home): Promise<void>;
  /** Ends what it has left running. */
  end?(home: Home): Promise<unknown>;
}

interface Home {
  path: string;
  env: Record<string, string>;
}

const modules = join(root, "node_modules", "@modelcontextprotocol");
const server = (name: string, ...args: string[]) => ({
  command: "node",
  args: [join(modules, `server-${name}`, "dist", "index.js"), ...args],
});

/** As `claude mcp add --scope user` leaves it. */
const settings = (home: string) => ({
  numStartups: 12,
  mcpServers: {
    everything: server("everything", "stdio"),
    files: server("filesystem", home),
    memory: { ...server("memory"), env: { MEMORY_FILE_PATH: join(home, "memory.json") } },
    thinking: server("sequential-thinking"),
  },
});

export const measureFirstMinute: Measure = async ({ rounds, found, user, folder }) => {
  const files = join(folder(), "dist");
  await outputOf([process.execPath, join(root, "scripts", "release.ts"), "--platforms", "host", "--outdir", files]);
  await using registry = await Registry.start((await outputOf(["npm", "config", "get", "registry"], user)).trim());
  for (const name of readdirSync(join(files, "npm"))) {
    await outputOf(["npm", "publish", join(files, "npm", name)], registry.env(registry.home("publisher")));
  }
  await using release = serveFolder(join(files, "release"));
  const { mcporter } = found;
  const ways: Record<string, Way> = {
    ours: { commands: ["npx -y claudikins init --apply"], questions: 0, answer: askAgent, end: stopDaemons },
    "install.sh": {
      commands: [`curl -fsSL ${release.url}install.sh | sh`, "claudikins init --apply"],
      questions: 0,
      answer: askAgent,
      end: stopDaemons,
    },
    ...("missing" in mcporter ? {} : { mcporter: mcporterWay }),
  };
  // mcporter requires Node 24, which was installed with it.
  const nodes = "missing" in mcporter || mcporter.command.length < 2 ? [] : [dirname(mcporter.command[0]!)];
  let homes = 0;
  const downloaded: Record<string, number> = {};
  const run = (name: string, way: Way) => async () => {
    const home = newHome(registry, ++homes, nodes, release.url);
    release.sent = 0;
    const startedAt = performance.now();
    for (const command of way.commands) await outputOf(["sh", "-c", `cd "$HOME" && ${command}`], home.env);
    await way.answer(home);
    const ms = performance.now() - startedAt;
    downloaded[name] = release.sent + sizeOf(join(home.path, ".npm", "_cacache", "content-v2"));
    await way.end?.(home);
    return ms;
  };
  const { ours, ...others } = ways as { ours: Way } & Record<string, Way>;
  const times = await inTurn(rounds(5, 3), {
    ours: run("ours", ours),
    ...Object.fromEntries(Object.entries(others).map(([name, way]) => [name, run(name, way)])),
  });
  const missing = absent({ mcporter });
  const byHand: Record<string, Other> = { executor: { none: "needs a person in its page" } };
  const counted = (
    what: string,
    unit: Unit,
    of: (name: string, way: Way) => number,
    more: Record<string, Other>,
  ): Row => ({
    what,
    unit,
    ours: of("ours", ours),
    others: {
      ...Object.fromEntries(Object.entries(others).map(([name, way]) => [name, { value: of(name, way) }])),
      ...missing,
      ...more,
    },
    counted: "once",
  });
  const megabytes = (name: string) => (downloaded[name] ?? 0) / 1e6;
  return {
    rows: [
      rowOf("from nothing to the first answer of a tool", times, { ...missing, ...byHand }),
      counted("commands that a person types", "commands", (_, { commands }) => commands.length, {
        executor: { value: executorCommands.length },
      }),
      counted("questions that a person answers", "questions", (_, { questions }) => questions, {
        executor: { value: Object.keys(settings("").mcpServers).length },
      }),
      counted("downloaded", "MB", megabytes, byHand),
    ],
    notes: [
      "The home has the settings of Claude Code with four servers from npm, which are installed. claudikins is installed by npx in the first column, and by its script under `install.sh`. npm's cache is empty.",
      "The agent is scripted: it starts the server that its settings name, searches for a tool that adds two numbers, and runs a program that calls it. Its own start and a model's time are not included. For mcporter, it lists the tools of the server in a shell and calls one.",
      `\`init --apply\` asks nothing; without \`--apply\` it asks once. After mcporter's one command (\`${mcporterWay.commands[0]}\`), Claude Code still loads all tools itself, and must be told to use mcporter.`,
      `executor needs ${executorCommands.map((each) => `\`${each}\``).join(" and ")}, and then a person who adds each server and approves it in its web page; so its time is not measured.`,
    ],
  };
};

const executorCommands = ["npm install -g executor", "claude mcp add executor -- executor mcp"];

const mcporterWay: Way = {
  commands: ["npm install -g mcporter"],
  questions: 0,
  async answer({ env }) {
    const list = await outputOf(["mcporter", "list", "everything", "--schema"], env);
    if (!list.includes("get-sum")) throw new Error("mcporter does not list get-sum");
    const sum = await outputOf(["mcporter", "call", "everything.get-sum", "a:2", "b:3"], env);
    if (!sum.includes("The sum of 2 and 3 is 5.")) throw new Error(`mcporter: ${sum}`);
  },
};

/** Starts claudikins as Claude Code's settings name it. */
async function askAgent({ path, env }: Home): Promise<void> {
  const { mcpServers } = JSON.parse(readFileSync(join(path, ".claude.json"), "utf8"));
  const { command, args } = mcpServers.claudikins as { command: string; args: string[] };
  const client = new Client({ name: "claude-code", version: "1" });
  await client.connect(new StdioClientTransport({ command, args, env, cwd: path, stderr: "ignore" }));
  try {
    await client.listTools();
    const found = await client.callTool({ name: "search_tools", arguments: { queries: ["add two numbers"] } });
    if (!JSON.stringify(found).includes("get_sum")) throw new Error(`search_tools: ${JSON.stringify(found)}`);
    const code = "return await everything.get_sum({ a: 2, b: 3 })";
    const answer = await client.callTool({ name: "execute_code", arguments: { code } });
    if (!JSON.stringify(answer).includes("The sum of 2 and 3 is 5.")) throw new Error(JSON.stringify(answer));
  } finally {
    await client.close();
  }
}

async function stopDaemons({ path, env }: Home): Promise<void> {
  const { mcpServers } = JSON.parse(readFileSync(join(path, ".claude.json"), "utf8"));
  await outputOf([mcpServers.claudikins.command, "daemon", "stop", "--all"], env);
}

function newHome(registry: Registry, number: number, nodes: string[], releases: string): Home {
  const path = registry.home(`first-minute-${number}`);
  writeFileSync(join(path, ".claude.json"), `${JSON.stringify(settings(path), null, 2)}\n`);
  const global = join(path, ".npm-global");
  const bins = [...nodes, join(global, "bin"), join(path, ".local", "bin")];
  const { CLAUDIKINS_DAEMON: _, ...env } = registry.env(path);
  return {
    path,
    env: {
      ...env,
      PATH: [...bins, env["PATH"]].join(delimiter),
      npm_config_prefix: global,
      CLAUDIKINS_BASE_URL: releases.replace(/\/$/, ""),
      CLAUDIKINS_NO_DEMO: "1",
      // Nobody can be asked at this terminal.
      CI: "true",
    },
  };
}

interface Released extends AsyncDisposable {
  url: string;
  /** Bytes of bodies since it was set. */
  sent: number;
}

function serveFolder(path: string): Released {
  const http = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const file = join(path, decodeURIComponent(new URL(request.url).pathname.slice(1)));
      if (dirname(file) !== path || !existsSync(file)) return new Response("", { status: 404 });
      released.sent += statSync(file).size;
      return new Response(Bun.file(file));
    },
  });
  const released: Released = { url: http.url.href, sent: 0, [Symbol.asyncDispose]: () => http.stop(true) };
  return released;
}

function sizeOf(path: string): number {
  if (!existsSync(path)) return 0;
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(path, name)))
    .reduce((sum, found) => sum + (found.isFile() ? found.size : 0), 0);
}
