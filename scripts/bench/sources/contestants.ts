/** claudikins and executor with the same web APIs: both read the documents, are searched, and run programs. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, type Reply } from "../tasks/agent.ts";
import type { SourceTask } from "./tasks.ts";

/** The documents by name, and the server that has them and answers the calls. */
export interface Apis {
  names: string[];
  origin: string;
}

/** A contestant whose APIs can be called. */
export interface Ready extends AsyncDisposable {
  agent: Agent;
  /** The time from the start of the process until the operations of all documents were found. */
  readyMs: number;
  /** How many operations of all documents it keeps. */
  operations(): number;
  /** Searches until an answer shows how the operation of the task is called. Returns the number of turns. */
  search(task: SourceTask): Promise<number>;
  execute(task: SourceTask): Promise<unknown>;
}

const firstWords = "list";
const askAgainMs = 20;

/** `folder` has the config and the kept documents: the first start in it reads the documents, a second one does not. */
export async function startOurs(binary: string, folder: string, { names, origin }: Apis): Promise<Ready> {
  const entryOf = (name: string) => ({
    openapi: `${origin}/documents/${name}`,
    baseUrl: `${origin}/${name}`,
    auth: "key",
  });
  const mcpServers = Object.fromEntries(names.map((name) => [name, entryOf(name)]));
  writeFileSync(join(folder, "claudikins.json"), JSON.stringify({ mcpServers }));
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder };
  const startedAt = performance.now();
  const entry = { command: binary, args: ["serve", "--trust", "--no-daemon"], env };
  const agent = await Agent.start({ claudikins: entry }, folder);
  agent.begin("");
  // The first search of an agent is about all servers.
  await agent.turn(["claudikins", "search_tools", { query: firstWords }]);
  for (const name of names) await searchable(agent, name);
  const readyMs = performance.now() - startedAt;
  return {
    agent,
    readyMs,
    operations() {
      const listed = Bun.spawnSync([binary, "list", "--json", "--trust"], { cwd: folder, env });
      const { servers } = JSON.parse(listed.stdout.toString()) as { servers: { tools?: number }[] };
      return servers.reduce((sum, { tools = 0 }) => sum + tools, 0);
    },
    async search({ query, ours: { operation } }) {
      const words = [query, operation.replace(/[._]/g, " ")];
      for (const [turn, query] of words.entries()) {
        const [reply] = await agent.turn(["claudikins", "search_tools", { query }]);
        if (reply?.text.includes(`${operation}(`)) return turn + 1;
      }
      throw new Error(`claudikins does not find ${operation}`);
    },
    async execute({ ours: { code } }) {
      const [reply] = await agent.turn(["claudikins", "execute_code", { code }]);
      return returnedIn(reply?.text ?? "");
    },
    [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose](),
  };
}

/** A search does not wait for every server, so it is repeated until the operations of this one are found. */
async function searchable(agent: Agent, name: string): Promise<void> {
  for (;;) {
    const [reply] = await agent.turn(["claudikins", "search_tools", { query: firstWords, server: name }]);
    if (reply?.text.includes(`${name}.`)) return;
    await Bun.sleep(askAgainMs);
  }
}

/** The first start in a folder adds the documents, each with a connection; later ones have them. */
export async function startExecutorApis(
  command: string,
  folder: string,
  { names, origin }: Apis,
  isNew: boolean,
): Promise<Ready> {
  writeKey(folder);
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder };
  const startedAt = performance.now();
  const agent = await Agent.start({ executor: { command, args: ["mcp", "--scope", folder], env } }, folder);
  agent.begin("");
  // By default, the model itself says yes to questions of executor, in a turn of its own.
  const run = async (code: string): Promise<string> => {
    let [reply] = await agent.turn(["executor", "execute", { code }]);
    for (let id = pausedId(reply); id !== undefined; id = pausedId(reply)) {
      [reply] = await agent.turn(["executor", "resume", { executionId: id, action: "accept" }]);
    }
    return reply?.text ?? "";
  };
  let operations = 0;
  for (const name of isNew ? names : []) {
    const header = { Authorization: ["Bearer ", { type: "variable", name: "token" }] };
    const spec = {
      spec: { kind: "url", url: `${origin}/documents/${name}` },
      slug: name,
      baseUrl: `${origin}/${name}`,
      authenticationTemplate: [{ slug: "key", type: "apiKey", headers: header }],
    };
    const inputs = { token: { from: { provider: "file", id: "key" } } };
    const connection = { owner: "user", name: "main", integration: name, template: "key", inputs };
    const added = await run(`const added = await tools.executor.openapi.addSpec(${JSON.stringify(spec)});
if (!added.ok) throw new Error(added.error.message);
await tools.executor.coreTools.connections.create(${JSON.stringify(connection)});
return added.data.toolCount`);
    operations += Number(added);
  }
  await run(`return (await tools.search({ query: ${JSON.stringify(firstWords)}, limit: 1 })).total`);
  const readyMs = performance.now() - startedAt;
  return {
    agent,
    readyMs,
    operations: () => operations,
    async search({ query, executor: { operation } }) {
      // The workflow of its description, in one program: the details of the first are read before anybody has seen the list.
      const found = await run(`const { items } = await tools.search({ query: ${JSON.stringify(query)}, limit: 12 });
const paths = items.map(({ path }) => path);
return { paths, details: await tools.describe.tool({ path: paths[0] }) }`);
      // A long answer is cut at its end, so it need not be JSON.
      const paths = [...(/\[[^\]]*\]/.exec(found)?.[0] ?? "").matchAll(/"([^"]+)"/g)].map(([, path]) => path ?? "");
      const place = paths.findIndex((path) => path.endsWith(`.${operation}`));
      if (place === 0) return 1;
      const words = operation.replace(/([a-z])([A-Z])|\./g, "$1 $2");
      await run(
        place > 0
          ? `return await tools.describe.tool({ path: ${JSON.stringify(paths[place])} })`
          : `const { items: [{ path }] } = await tools.search({ query: ${JSON.stringify(words)}, limit: 1 });
return await tools.describe.tool({ path })`,
      );
      return 2;
    },
    async execute({ ours, executor: { code } }) {
      const [name] = ours.operation.split(".");
      return returnedIn(await run(code.replaceAll("tools.$", `tools.${name}.user.main`)));
    },
    [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose](),
  };
}

/** Its provider `file` keeps keys by id. */
function writeKey(home: string): void {
  const folder = join(home, ".local", "share", "executor");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "auth.json"), JSON.stringify({ key: "key" }));
}

function pausedId(reply: Reply | undefined): string | undefined {
  return reply?.text.startsWith("Execution paused") ? /^executionId: (\S+)$/m.exec(reply.text)?.[1] : undefined;
}

/** The value that a program returned, as the model reads it, or the text of its error. */
function returnedIn(text: string): unknown {
  const value = text.replace(/\n\n\[[^\n]*\]\s*$/, "");
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
