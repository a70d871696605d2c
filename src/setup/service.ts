/** The daemon as a service of the user, which starts when the user logs in: for systemd, launchd, and the tasks of Windows. */
import { join } from "node:path";
import { shellWord } from "../base/shell-word.ts";
import type { Environment } from "../config/environment.ts";
import { homeOf } from "../config/locations.ts";

export interface Service {
  /** The name of the service in the system. */
  name: string;
  /** The file that describes the service, and its text. Undefined on Windows, where the commands contain everything. */
  file?: { path: string; text: string } | undefined;
  /** The commands that start it now and with each login. */
  enable: string[][];
  /** The commands that stop it. The `before` commands run first, then the file is removed, and then the `after` commands run. */
  disable: { before: string[][]; after: string[][] };
}

interface ServiceOptions {
  /** Different for each config: letters, digits and dashes. */
  id: string;
  /** What the service does, for people. */
  description: string;
  /** The command of the daemon. */
  command: readonly string[];
  env: Environment;
  /** The user's number, which launchd needs. */
  uid?: number | undefined;
}

/**
 * Variables with paths and proxy addresses, which the service gets from the user's environment. A service has few variables of its own, and
 * secrets must not be in its file.
 */
const passed = [
  "PATH",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "CLAUDIKINS_CONFIG",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "NODE_EXTRA_CA_CERTS",
];

export function serviceOf(platform: NodeJS.Platform, options: ServiceOptions): Service {
  switch (platform) {
    case "darwin":
      return launchdService(options);
    case "win32":
      return windowsTask(options);
    default:
      return systemdService(options);
  }
}

function variablesOf(env: Environment): [string, string][] {
  // An address of a proxy can contain a password.
  const isPlain = (value: string) => !/[\r\n]/.test(value) && !/\/\/[^/@]*:[^/@]*@/.test(value);
  return passed.flatMap((name): [string, string][] => {
    const value = env[name];
    return value !== undefined && value !== "" && isPlain(value) ? [[name, value]] : [];
  });
}

function systemdService({ id, description, command, env }: ServiceOptions): Service {
  const name = `${id}.service`;
  const folder = env["XDG_CONFIG_HOME"] || join(homeOf(env), ".config");
  // A percent sign begins a specifier, and a dollar sign a variable.
  const quoted = (word: string) => `"${word.replace(/[\\"]/g, "\\$&").replaceAll("%", "%%")}"`;
  const lines = [
    "[Unit]",
    `Description=${description.replaceAll("%", "%%")}`,
    "",
    "[Service]",
    ...variablesOf(env).map(([key, value]) => `Environment=${quoted(`${key}=${value}`)}`),
    `ExecStart=${command.map((word) => quoted(word).replaceAll("$", "$$$$")).join(" ")}`,
    "Restart=always",
    "RestartSec=10",
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ];
  const systemctl = (...words: string[]) => ["systemctl", "--user", ...words];
  return {
    name,
    file: { path: join(folder, "systemd", "user", name), text: lines.join("\n") },
    enable: [systemctl("daemon-reload"), systemctl("enable", "--now", name)],
    disable: { before: [systemctl("disable", "--now", name)], after: [systemctl("daemon-reload")] },
  };
}

function launchdService({ id, command, env, uid = 0 }: ServiceOptions): Service {
  const name = `dev.claudikins.${id}`;
  const path = join(homeOf(env), "Library", "LaunchAgents", `${name}.plist`);
  const text = (value: string) => `<string>${value.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)}</string>`;
  const variables = variablesOf(env).map(([key, value]) => `    <key>${key}</key>${text(value)}`);
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    "<dict>",
    `  <key>Label</key>${text(name)}`,
    "  <key>ProgramArguments</key>",
    "  <array>",
    ...command.map((word) => `    ${text(word)}`),
    "  </array>",
    "  <key>EnvironmentVariables</key>",
    "  <dict>",
    ...variables,
    "  </dict>",
    "  <key>RunAtLoad</key><true/>",
    "  <key>KeepAlive</key><true/>",
    "  <key>ThrottleInterval</key><integer>10</integer>",
    "</dict>",
    "</plist>",
    "",
  ];
  return {
    name,
    file: { path, text: lines.join("\n") },
    enable: [["launchctl", "bootstrap", `gui/${uid}`, path]],
    disable: { before: [["launchctl", "bootout", `gui/${uid}/${name}`]], after: [] },
  };
}

function windowsTask({ id, command }: ServiceOptions): Service {
  const line = command.map((word) => `"${word}"`).join(" ");
  return {
    name: id,
    enable: [
      ["schtasks", "/Create", "/F", "/TN", id, "/SC", "ONLOGON", "/RL", "LIMITED", "/TR", line],
      ["schtasks", "/Run", "/TN", id],
    ],
    disable: {
      before: [
        ["schtasks", "/End", "/TN", id],
        ["schtasks", "/Delete", "/F", "/TN", id],
      ],
      after: [],
    },
  };
}

/** A command as a person would type it. */
export function serviceCommand(command: readonly string[]): string {
  return command.map(shellWord).join(" ");
}
