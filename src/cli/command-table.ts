/** Which commands there are, each loaded only when it is called, and where the help text has them. */
import type { Command } from "./command.ts";

/** Loaded only when it is called. */
export interface Entry {
  summary: string;
  load: () => Promise<{ default: Command }>;
  /** Not for people to start: left out of the help text. */
  hidden?: boolean;
}

/** Commands that belong together, under one word. */
export interface Group {
  summary: string;
  description: string;
  commands: Record<string, Entry>;
}

export const commands: Record<string, Entry | Group> = {
  serve: {
    summary: "Be an MCP server for your agent: search_tools and execute_code",
    load: () => import("./commands/serve.ts"),
  },
  init: {
    summary: "Take over the MCP servers of your agents, and be their only one",
    load: () => import("./commands/init.ts"),
  },
  restore: { summary: "Undo that: give your agents their files back", load: () => import("./commands/restore.ts") },
  add: {
    summary: "Add a server: by its name, a command, an address, or an entry",
    load: () => import("./commands/add.ts"),
  },
  trust: {
    summary: "Trust this project's config, which is used only then",
    load: () => import("./commands/trust.ts"),
  },
  remove: { summary: "Take servers out, with their generated files", load: () => import("./commands/remove.ts") },
  exec: {
    summary: "Run TypeScript that calls tools; only what it returns comes out",
    load: () => import("./commands/exec.ts"),
  },
  call: {
    summary: "Call one tool: server.tool name=value; the second call is warm",
    load: () => import("./commands/call.ts"),
  },
  run: {
    summary: "Do a task said in words: a small model picks the tool and calls it",
    load: () => import("./commands/run.ts"),
  },
  search: { summary: "Find tools by what they do; starts no server", load: () => import("./commands/search.ts") },
  list: {
    summary: "Show the servers and what is known of them; --check starts them",
    load: () => import("./commands/list.ts"),
  },
  auth: {
    summary: "Sign in to servers on the network: login, logout, status",
    description: "Sign in to servers on the network that want a person: login, logout, status.",
    commands: {
      login: { summary: "Sign in to a server, in your browser", load: () => import("./commands/auth/login.ts") },
      logout: { summary: "Give up a sign-in, and forget it", load: () => import("./commands/auth/logout.ts") },
      status: { summary: "Show who is signed in, and for how long", load: () => import("./commands/auth/status.ts") },
    },
  },
  daemon: {
    summary: "The process that keeps servers running between calls: status, logs, stop",
    description:
      "What keeps servers running between calls, for all that call their tools. It starts and ends by itself.",
    commands: {
      status: { summary: "Show the daemons that run", load: () => import("./commands/daemon/status.ts") },
      logs: { summary: "Show what it did", load: () => import("./commands/daemon/logs.ts") },
      stop: {
        summary: "End the daemon of this config, and its servers",
        load: () => import("./commands/daemon/stop.ts"),
      },
      run: {
        summary: "Be the daemon, in the foreground",
        load: () => import("./commands/daemon/run.ts"),
        hidden: true,
      },
    },
  },
  setup: {
    summary: "First steps: folders, tools, the skill; then what is left for you",
    load: () => import("./commands/setup.ts"),
  },
  doctor: {
    summary: "Look at everything, and say what repairs what is wrong",
    load: () => import("./commands/doctor.ts"),
  },
  skill: {
    summary: "Tell your agents how to work with us: install, remove, status",
    description: "A skill, and a section of CLAUDE.md or AGENTS.md, by which agents know how to find and call tools.",
    commands: {
      install: { summary: "Write the skill where your agents look", load: () => import("./commands/skill/install.ts") },
      remove: { summary: "Take it out again", load: () => import("./commands/skill/remove.ts") },
      status: { summary: "Show where it is", load: () => import("./commands/skill/status.ts") },
    },
  },
  stats: {
    summary: "Show what was called, and what it kept out of contexts",
    load: () => import("./commands/stats.ts"),
  },
  trace: { summary: "Show what was executed, its calls over the time", load: () => import("./commands/trace.ts") },
  logs: { summary: "Show what a server wrote on stderr, and how it ended", load: () => import("./commands/logs.ts") },
  hooks: {
    summary: "Texts that tell agents of us: print",
    description: "Texts that tell agents how to find and call tools.",
    commands: {
      print: { summary: "Print one: claude-md, skill or readme", load: () => import("./commands/hooks/print.ts") },
    },
  },
  gen: { summary: "Ask every server for its tools and write the registry", load: () => import("./commands/gen.ts") },
  completions: {
    summary: "Make your shell complete what you type: bash, zsh, fish",
    load: () => import("./commands/completions.ts"),
  },
  complete: {
    summary: "Say what can come next on a command line",
    load: () => import("./commands/complete.ts"),
    hidden: true,
  },
  demo: {
    summary: "The built-in demo server: the back office of a small shop",
    load: () => import("./commands/demo.ts"),
  },
};

/** Where the help text has them. */
export const sections: Record<string, readonly string[]> = {
  "Set up": ["setup", "init", "restore", "add", "remove", "trust", "auth", "gen"],
  Use: ["search", "list", "call", "run", "exec"],
  "For agents": ["serve", "skill", "hooks"],
  "Look after it": ["doctor", "trace", "logs", "stats", "daemon", "completions", "demo"],
};

/** Those that people may start, with what each of them is for. */
export function shownOf(entries: Record<string, Entry | Group>): [string, string][] {
  return Object.entries(entries).flatMap(([name, entry]) =>
    "hidden" in entry && entry.hidden ? [] : [[name, entry.summary]],
  );
}
