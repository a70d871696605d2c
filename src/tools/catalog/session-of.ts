/**
 * Decides whether agents share one process of a server, or each agent gets its own. A server may keep state for its conversation, such as
 * an open page or a working directory. Agents that share such a server would interfere with each other.
 */
import type { ServerConfig } from "../../config/load.ts";

export interface SessionChoice {
  session: "shared" | "private";
  /** The source of the choice. */
  by: "config" | "catalog" | "program" | "tools" | "default";
}

/** Words in the name of a program or package that keeps such a state. */
const statefulProgram =
  /(?:^|[^a-z])(?:browser|playwright|puppeteer|selenium|webdriver|cdp|shell|bash|terminal|tmux|pty|ssh|repl|jupyter|ipython|notebook|debugger|gdb|lldb)(?:[^a-z]|$)/i;

/** Names of tools that change such a state or use it. */
const statefulTool = [
  // Browsers and screens.
  /^browser_|(?:^|_)(?:navigate(?:_page|_to)?|new_page|switch_tab|fill_form)$/,
  // Shells, interpreters and debuggers.
  /^(?:shell|terminal|repl|tmux|ssh|debug)_|(?:^|_)(?:start_process|interact_with_process|send_keys|run_cell|execute_cell)$/,
  // Things that later calls refer to without naming them.
  /(?:^|_)(?:set|switch|select|change|activate|use)_(?:(?:working|current|active)_)?(?:dir|directory|working_dir|folder|cwd|context|project|workspace|database|connection|account|profile|tab|page|kernel|session)$/,
  /^(?:begin|start|commit|rollback)_?transaction$/,
  /^sequential_?thinking$/,
];

/** `tools` are the names of the server's tools, as far as they are known. */
export async function sessionOf(server: ServerConfig, tools: readonly string[] = []): Promise<SessionChoice> {
  if (server.session !== undefined) return { session: server.session, by: "config" };
  return defaultSession(server, tools);
}

/** Whether agents share a server that keeps such a state, because its entry says so. */
export async function isSharedAgainstDefault(server: ServerConfig, tools?: readonly string[]): Promise<boolean> {
  return server.session === "shared" && (await defaultSession(server, tools)).session === "private";
}

/** Why private servers are private, for people. */
export const privateReason = "keeps a state for its conversation, such as an open page or a working directory";

/** The choice without the key `session`. */
async function defaultSession(server: ServerConfig, tools: readonly string[] = []): Promise<SessionChoice> {
  const byEntry = choicesByEntry.get(server) ?? (await choiceByEntry(server));
  // Recognising a program may read files.
  choicesByEntry.set(server, byEntry);
  if (byEntry.by !== "default") return byEntry;
  const names = tools.map((name) =>
    name
      .replaceAll("-", "_")
      .replace(/(?<=[a-z])(?=[A-Z])/g, "_")
      .toLowerCase(),
  );
  const isStateful = names.some((name) => statefulTool.some((pattern) => pattern.test(name)));
  return isStateful ? { session: "private", by: "tools" } : byEntry;
}

const choicesByEntry = new WeakMap<ServerConfig, SessionChoice>();

async function choiceByEntry(server: ServerConfig): Promise<SessionChoice> {
  const { recognise } = await import("../server-catalog.ts");
  const known = recognise(server);
  if (known) return { session: known.session, by: "catalog" };
  const isStateful = server.url === undefined && programWords(server).some((word) => statefulProgram.test(word));
  return isStateful ? { session: "private", by: "program" } : { session: "shared", by: "default" };
}

/** The program, and the package or script that it runs. Later arguments may be anything. */
function programWords({ command, args }: Extract<ServerConfig, { command: string }>): string[] {
  const first = args.find((arg) => !arg.startsWith("-"));
  return [command, first ?? ""].map((word) => word.split(/[\\/]/).slice(-2).join("/"));
}
