/** All commands with their one-line summaries. A command's file is loaded only when the command runs. */
import type { Command, CommandEntry, CommandTable } from "./command.ts";

export const commands: CommandTable = {
  serve: one("Run the MCP server that agents connect to", () => import("./commands/serve.ts")),
  init: one("Import your agents' MCP servers and put claudikins in their place", () => import("./commands/init.ts")),
  restore: one("Undo init: give your agents their original settings back", () => import("./commands/restore.ts")),
  uninstall: one(
    "Remove claudikins: undo init, stop the daemons, remove its folders",
    () => import("./commands/uninstall.ts"),
  ),
  add: one("Add a server: by name, a command, a URL or a pasted entry", () => import("./commands/add.ts")),
  trust: one("Read this project's config, and let it start its servers", () => import("./commands/trust.ts")),
  review: one("Read and accept tools that their server has changed", () => import("./commands/review.ts")),
  remove: one("Remove servers and their generated files", () => import("./commands/remove.ts")),
  ...parts(() => import("./commands/switch.ts"), {
    disable: "Turn off servers or single tools without removing them",
    enable: "Turn servers or single tools back on",
  }),
  doors: {
    summary: "Give an agent fewer servers or tools (list, show, add, remove)",
    description:
      "A door is a smaller view of the config, with a name: some of its servers, some of their tools. Make one, and give it to an agent with `claudikins init --host codex --door NAME`. Without a command, lists them.",
    default: "list",
    commands: parts(() => import("./commands/doors.ts"), {
      list: "List the doors, and the agents behind them",
      show: "Show what is behind one",
      add: "Make one, or replace it",
      remove: "Remove some",
    }),
  },
  confirm: one("Say when you are asked before a tool is called", () => import("./commands/confirm.ts")),
  edit: one("Change the name, the description or the arguments of a tool", () => import("./commands/edit.ts")),
  label: one("Say what the data of a tool is: untrusted, private or public", () => import("./commands/label.ts")),
  config: {
    summary: "Find or edit the config file in use (path, edit, server)",
    description: "Find or edit the config file in use.",
    commands: {
      ...parts(() => import("./commands/config.ts"), {
        path: "Print the path of the config file",
        edit: "Edit the config file, then check it",
      }),
      ...parts(() => import("./commands/config-server.ts"), {
        server: "Change the entry of a server, such as its command",
      }),
    },
  },
  exec: one("Run TypeScript that calls tools; print only what it returns", () => import("./commands/exec.ts")),
  programs: {
    summary: "Save code under a name, and run it by hand or on a schedule",
    description:
      "Manage saved programs: code with a name and typed input, which agents find and call like a tool. Without a command, lists them.",
    default: "list",
    commands: {
      ...parts(() => import("./commands/programs.ts"), {
        list: "List them with their last runs",
        show: "Show one with its code",
        run: "Run one with its input",
        save: "Save a program under a name",
        schedule: "Run one on a schedule, such as every morning",
        unschedule: "End schedules",
        on: "Start one when something happens, such as a webhook",
        notify: "Tell others what has become of one",
        off: "Remove triggers and notifications",
        deliveries: "List the events that have started programs, and notifications",
        retry: "Let dead deliveries begin again",
        remove: "Remove some",
        keep: "Keep an execution as a program, with a recording",
        record: "Run one and keep its calls for its tests",
        test: "Test some without any server",
        check: "Find what would break with the tools as they are now",
        share: "Let everybody call a program of one agent",
        history: "List the versions of one",
        back: "Go back to an earlier version of one",
        accept: "Accept one as it is, and the programs that it calls",
        add: "Add one from a git repository",
        export: "Write some as files for a repository",
      }),
    },
  },
  mock: one("Play a recorded server, for tests without it", () => import("./commands/mock.ts")),
  executions: {
    summary: "What was run, what runs and what waits (list, show, cancel, …)",
    description:
      "Show what was run, and manage what runs in the background or waits. Without a command, lists all of it. `claudikins executions show last` shows the timeline of the last one.",
    default: "list",
    commands: parts(() => import("./commands/executions.ts"), {
      list: "List what runs, what waits and what has ended",
      show: "Show one: its calls over time, or what it waits for",
      code: "Print the code of one",
      "dry-run": "Show what the program of one would do",
      again: "Run the code of one again",
      compare: "Show two side by side",
      wait: "Wait for one and print its outcome",
      cancel: "Cancel one",
      clear: "Delete the records of those that have ended",
    }),
  },
  call: one("Call one tool: server.tool name=value", () => import("./commands/call.ts")),
  run: one("Run a task given in words; a small model picks and calls a tool", () => import("./commands/run.ts")),
  search: one("Find tools by what they do", () => import("./commands/search.ts")),
  list: one("List servers and their state, or the tools of one", () => import("./commands/list.ts")),
  auth: {
    summary: "Sign in to remote servers (login, logout, status)",
    description: "Sign in to remote servers that require it.",
    commands: parts(() => import("./commands/auth.ts"), {
      login: "Sign in to a server in your browser",
      logout: "Sign out of a server and delete its tokens",
      status: "Show sign-ins and when they expire",
    }),
  },
  daemon: {
    summary: "Manage the process that keeps servers running between calls",
    description:
      "The daemon keeps servers running between calls and shares them between commands and agents. It starts and stops automatically.",
    commands: {
      ...parts(() => import("./commands/daemon.ts"), {
        status: "List running daemons",
        logs: "Show the daemon's log",
        stop: "Stop the daemon of this config and its servers",
      }),
      ...parts(() => import("./commands/daemon.ts"), { restart: "Restart one of its servers" }),
      ...parts(() => import("./commands/daemon-service.ts"), {
        enable: "Start the daemon whenever you log in",
        disable: "Do not start it any more",
      }),
      run: {
        summary: "Run the daemon in the foreground",
        load: () => import("./commands/daemon-run.ts"),
        hidden: true,
      },
    },
  },
  setup: {
    summary: "Create folders, fetch tools and report what is left to do",
    load: () => import("./commands/setup.ts"),
    hidden: true,
  },
  doctor: one("Check the whole setup and suggest fixes", () => import("./commands/doctor.ts")),
  upgrade: one("Replace this executable with the newest release", () => import("./commands/upgrade.ts")),
  "self-check": {
    summary: "Run a small program that shows whether this executable works",
    load: () => import("./commands/self-check.ts"),
    hidden: true,
  },
  skill: {
    summary: "Teach your agents to use claudikins (install, remove, …)",
    description:
      "Manage the texts that tell agents how to find and call tools: a skill, and an optional section in CLAUDE.md, AGENTS.md or GEMINI.md.",
    commands: parts(() => import("./commands/skill.ts"), {
      install: "Write the skill where your agents look for it",
      remove: "Remove the skill",
      status: "Show where the skill is installed",
      print: "Print one of the texts, to place it yourself",
    }),
  },
  calls: {
    summary: "Show who called what (list, figures, export)",
    description:
      "Show the call log: each call of a tool, the person or the agent for whom it was made, and how it ended. Without a command, lists the latest calls.",
    default: "list",
    commands: parts(() => import("./commands/calls.ts"), {
      list: "List the latest calls",
      figures: "Sum them up by tool, server, agent, door, person or program",
      export: "Print all calls as JSON lines",
    }),
  },
  stats: one("Show what was called and how many tokens it saved", () => import("./commands/stats.ts")),
  trace: {
    summary: "List executions, or show one; see executions list and executions show",
    load: () => import("./commands/trace.ts"),
    hidden: true,
  },
  approvals: {
    summary: "Approve or deny calls that wait (list, show, approve, deny)",
    description: "List calls that wait for your approval, and decide about them. Without a command, lists them.",
    default: "list",
    commands: parts(() => import("./commands/approvals.ts"), {
      list: "List the calls that wait",
      show: "Show a call with all of its arguments",
      approve: "Approve calls",
      deny: "Deny calls",
    }),
  },
  audit: {
    summary: "Show and check the log of decisions (list, verify, export, cut)",
    description:
      "Show the audit log: every approval and denial, and every change of the policy. Without a command, lists the latest entries.",
    default: "list",
    commands: parts(() => import("./commands/audit.ts"), {
      list: "List the latest entries",
      verify: "Check that no entry was changed or removed",
      export: "Print all entries as JSON lines or CSV",
      cut: "Remove the oldest entries",
    }),
  },
  tokens: {
    summary: "Tokens for serve --http (list, add, revoke)",
    description:
      "Manage the tokens with which agents call `claudikins serve --http`. A token opens every address of a config, or one door. Without a command, lists them.",
    default: "list",
    commands: parts(() => import("./commands/tokens.ts"), {
      list: "List the tokens of this config",
      add: "Make a token, which is shown once",
      revoke: "Revoke tokens, and end what they began",
    }),
  },
  people: {
    summary: "People who sign in (list, revoke, restore, delete)",
    description:
      "Manage the people who sign in to `claudikins serve --http` at the OIDC provider of the config. Without a command, lists them.",
    default: "list",
    commands: parts(() => import("./commands/people.ts"), {
      list: "List those who have signed in",
      revoke: "Refuse some, and end what they began",
      restore: "Let some sign in again",
      delete: "Delete what is kept of some",
    }),
  },
  secrets: {
    summary: "Secrets for servers, in the keychain (list, set, remove, encrypt)",
    description:
      "Manage the values of `${secret:NAME}` in configs. They are in the system's keychain, or in a file that only you can read if there is no keychain. Without a command, lists them.",
    default: "list",
    commands: parts(() => import("./commands/secrets.ts"), {
      list: "List their names and which servers use them",
      set: "Set one, from a prompt or from stdin",
      remove: "Remove some",
      encrypt: "Encrypt a value for the config with a key of AWS, Google, Azure or Vault",
    }),
  },
  ui: one("Open a local page: what runs, what waits for you, servers, rules", () => import("./commands/ui.ts")),
  logs: one("Show what a server wrote to stderr and how it ended", () => import("./commands/logs.ts")),
  gen: one("Fetch the tools of all servers again, and write them as files", () => import("./commands/gen.ts")),
  ...parts(() => import("./commands/completions.ts"), {
    completions: "Print a completion script for bash, zsh or fish",
  }),
  complete: {
    summary: "List completions for a command line",
    load: async () => ({ default: (await import("./commands/completions.ts")).complete }),
    hidden: true,
  },
  demo: one("Run the built-in demo server: the back office of a small shop", () => import("./commands/demo.ts")),
};

/** The ten commands that a new user needs. */
export const firstCommands: readonly string[] = [
  "init",
  "restore",
  "add",
  "list",
  "search",
  "exec",
  "call",
  "programs",
  "ui",
  "doctor",
];

/** What people look for, and the command that does it. */
export const answers: Readonly<Record<string, string>> = {
  "Undo init": "claudikins restore",
  "See why a call waits, and decide": "claudikins approvals",
  "See what runs, hangs or has run": "claudikins executions",
  "See who called what": "claudikins calls",
  "Forbid a tool": "claudikins disable",
  "Be asked before a tool is called": "claudikins confirm",
  "Repair the entry of a server": "claudikins config server",
  "Rename a tool for agents": "claudikins edit",
  "Give one agent fewer servers": "claudikins doors",
  "Remove everything": "claudikins uninstall",
};

/** The sections of the help for all commands. */
export const sections: Readonly<Record<string, readonly string[]>> = {
  "Set up": [
    "init",
    "restore",
    "add",
    "remove",
    "disable",
    "enable",
    "config",
    "auth",
    "secrets",
    "gen",
    "upgrade",
    "uninstall",
    "completions",
    "demo",
  ],
  "Use tools": ["list", "search", "call", "exec", "run", "programs", "mock"],
  "See what happens": ["ui", "executions", "calls", "stats", "logs", "doctor", "daemon"],
  "Decide what may be called": ["approvals", "confirm", "doors", "trust", "review", "label", "edit", "audit"],
  "For agents": ["serve", "tokens", "people", "skill"],
};

/** The names and summaries of the commands that are not hidden. */
export function shownOf(table: CommandTable): [string, string][] {
  return Object.entries(table).flatMap(([name, entry]) =>
    "hidden" in entry && entry.hidden ? [] : [[name, entry.summary]],
  );
}

/** A command with a file of its own. */
function one(summary: string, load: CommandEntry["load"]): CommandEntry {
  return { summary, load };
}

/** The commands of one file, with their summaries. */
function parts<Name extends string>(
  load: () => Promise<Record<NoInfer<Name>, Command>>,
  summaries: Record<Name, string>,
): Record<string, CommandEntry> {
  return Object.fromEntries(
    Object.entries<string>(summaries).map(([name, summary]) => [
      name,
      { summary, load: async () => ({ default: (await load())[name as Name] }) },
    ]),
  );
}
