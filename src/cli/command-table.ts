/** All commands with their one-line summaries. A command's file is loaded only when the command runs. */
import type { Command, CommandTable } from "./command.ts";

export const commands: CommandTable = {
  serve: {
    summary: "Run the MCP server that agents connect to",
    load: () => import("./commands/serve.ts"),
  },
  init: {
    summary: "Import your agents' MCP servers and put claudikins in their place",
    load: () => import("./commands/init.ts"),
  },
  restore: {
    summary: "Undo init: give your agents their original settings back",
    load: () => import("./commands/restore.ts"),
  },
  add: {
    summary: "Add a server: by name, a command, a URL or a pasted entry",
    load: () => import("./commands/add.ts"),
  },
  trust: {
    summary: "Review this project's config and trust it",
    load: () => import("./commands/trust.ts"),
  },
  remove: { summary: "Remove servers and their generated files", load: () => import("./commands/remove.ts") },
  disable: {
    summary: "Turn off servers or single tools without removing them",
    load: () => part(import("./commands/switch.ts"), "disable"),
  },
  enable: {
    summary: "Turn servers or single tools back on",
    load: () => part(import("./commands/switch.ts"), "enable"),
  },
  config: {
    summary: "Find or edit the config file in use (path, edit)",
    description: "Find or edit the config file in use.",
    commands: {
      path: { summary: "Print the path of the config file", load: () => part(import("./commands/config.ts"), "path") },
      edit: {
        summary: "Edit the config file, then check it",
        load: () => part(import("./commands/config.ts"), "edit"),
      },
    },
  },
  exec: {
    summary: "Run TypeScript that calls tools; print only what it returns",
    load: () => import("./commands/exec.ts"),
  },
  executions: {
    summary: "Programs in the background, and programs that wait (list, show, wait, cancel)",
    description: "Manage programs that run in the background or wait. Without a command, lists them.",
    default: "list",
    commands: {
      list: { summary: "List them", load: () => part(import("./commands/executions.ts"), "list") },
      show: {
        summary: "Show the state, the calls and the code of one",
        load: () => part(import("./commands/executions.ts"), "show"),
      },
      wait: {
        summary: "Wait for one and print its outcome",
        load: () => part(import("./commands/executions.ts"), "wait"),
      },
      cancel: { summary: "Cancel one", load: () => part(import("./commands/executions.ts"), "cancel") },
    },
  },
  call: {
    summary: "Call one tool: server.tool name=value",
    load: () => import("./commands/call.ts"),
  },
  run: {
    summary: "Run a task given in words; a small model picks and calls a tool",
    load: () => import("./commands/run.ts"),
  },
  search: { summary: "Find tools by what they do", load: () => import("./commands/search.ts") },
  list: {
    summary: "List servers and their state; --check starts them",
    load: () => import("./commands/list.ts"),
  },
  auth: {
    summary: "Sign in to remote servers (login, logout, status)",
    description: "Sign in to remote servers that require it.",
    commands: {
      login: {
        summary: "Sign in to a server in your browser",
        load: () => part(import("./commands/auth.ts"), "login"),
      },
      logout: {
        summary: "Sign out of a server and delete its tokens",
        load: () => part(import("./commands/auth.ts"), "logout"),
      },
      status: {
        summary: "Show sign-ins and when they expire",
        load: () => part(import("./commands/auth.ts"), "status"),
      },
    },
  },
  daemon: {
    summary: "Manage the process that keeps servers running between calls",
    description:
      "The daemon keeps servers running between calls and shares them between commands and agents. It starts and stops automatically.",
    commands: {
      status: { summary: "List running daemons", load: () => part(import("./commands/daemon.ts"), "status") },
      logs: { summary: "Show the daemon's log", load: () => part(import("./commands/daemon.ts"), "logs") },
      stop: {
        summary: "Stop the daemon of this config and its servers",
        load: () => part(import("./commands/daemon.ts"), "stop"),
      },
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
  },
  doctor: {
    summary: "Check the whole setup and suggest fixes",
    load: () => import("./commands/doctor.ts"),
  },
  upgrade: {
    summary: "Replace this executable with the newest release",
    load: () => import("./commands/upgrade.ts"),
  },
  "self-check": {
    summary: "Run a small program that shows whether this executable works",
    load: () => import("./commands/self-check.ts"),
    hidden: true,
  },
  skill: {
    summary: "Teach your agents to use claudikins (install, remove, status)",
    description:
      "Manage the skill that tells agents how to find and call tools, and the optional section in CLAUDE.md, AGENTS.md or GEMINI.md.",
    commands: {
      install: {
        summary: "Write the skill where your agents look for it",
        load: () => part(import("./commands/skill.ts"), "install"),
      },
      remove: { summary: "Remove the skill", load: () => part(import("./commands/skill.ts"), "remove") },
      status: {
        summary: "Show where the skill is installed",
        load: () => part(import("./commands/skill.ts"), "status"),
      },
    },
  },
  stats: {
    summary: "Show what was called and how many tokens it saved",
    load: () => import("./commands/stats.ts"),
  },
  trace: {
    summary: "Show recorded executions and the timeline of their calls",
    load: () => import("./commands/trace.ts"),
  },
  approvals: {
    summary: "Approve or deny calls that wait (list, show, approve, deny)",
    description: "List calls that wait for your approval, and decide about them. Without a command, lists them.",
    default: "list",
    commands: {
      list: { summary: "List the calls that wait", load: () => part(import("./commands/approvals.ts"), "list") },
      show: {
        summary: "Show a call with all of its arguments",
        load: () => part(import("./commands/approvals.ts"), "show"),
      },
      approve: { summary: "Approve calls", load: () => part(import("./commands/approvals.ts"), "approve") },
      deny: { summary: "Deny calls", load: () => part(import("./commands/approvals.ts"), "deny") },
    },
  },
  audit: {
    summary: "Show and check the log of decisions (list, verify, export)",
    description:
      "Show the audit log: every approval and denial, and every change of the policy. Without a command, lists the latest entries.",
    default: "list",
    commands: {
      list: { summary: "List the latest entries", load: () => part(import("./commands/audit.ts"), "list") },
      verify: {
        summary: "Check that no entry was changed or removed",
        load: () => part(import("./commands/audit.ts"), "verify"),
      },
      export: {
        summary: "Print all entries as JSON lines or CSV",
        load: () => part(import("./commands/audit.ts"), "export_"),
      },
    },
  },
  ui: {
    summary: "Open a local page: approvals, executions, servers, policy",
    load: () => import("./commands/ui.ts"),
  },
  logs: { summary: "Show what a server wrote to stderr and how it ended", load: () => import("./commands/logs.ts") },
  hooks: {
    summary: "Print texts that point agents to claudikins",
    description: "Print texts that tell agents how to find and call tools.",
    commands: {
      print: { summary: "Print one text: claude-md, skill or readme", load: () => import("./commands/hooks.ts") },
    },
  },
  gen: { summary: "Fetch the tools of every server and write the registry", load: () => import("./commands/gen.ts") },
  completions: {
    summary: "Print a completion script for bash, zsh or fish",
    load: () => part(import("./commands/completions.ts"), "completions"),
  },
  complete: {
    summary: "List completions for a command line",
    load: () => part(import("./commands/completions.ts"), "complete"),
    hidden: true,
  },
  demo: {
    summary: "Run the built-in demo server: the back office of a small shop",
    load: () => import("./commands/demo.ts"),
  },
};

/** The sections of the help text and their commands. */
export const sections: Record<string, readonly string[]> = {
  "Set up": ["setup", "init", "restore", "add", "remove", "disable", "enable", "config", "trust", "auth", "gen"],
  "Use tools": ["search", "list", "call", "run", "exec", "executions"],
  "For agents": ["serve", "skill", "hooks"],
  Maintain: [
    "ui",
    "doctor",
    "trace",
    "approvals",
    "audit",
    "logs",
    "stats",
    "daemon",
    "upgrade",
    "completions",
    "demo",
  ],
};

/** The names and summaries of the commands that are not hidden. */
export function shownOf(table: CommandTable): [string, string][] {
  return Object.entries(table).flatMap(([name, entry]) =>
    "hidden" in entry && entry.hidden ? [] : [[name, entry.summary]],
  );
}

/** One of the commands in a file. */
async function part<Name extends string>(
  file: Promise<Record<Name, Command>>,
  name: Name,
): Promise<{ default: Command }> {
  return { default: (await file)[name] };
}
