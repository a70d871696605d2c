/** The command line without a process: streams are texts, and the folder and variables are given. */
import type { Io } from "../../src/cli/io.ts";
import { run } from "../../src/cli/run.ts";
import { checkJson } from "../support/command-json.ts";

export interface CliOptions {
  cwd?: string;
  env?: Record<string, string>;
  stdin?: string;
  /** Whether stdout is a terminal. */
  terminal?: boolean;
  /** The width of the terminal. */
  columns?: number;
  interrupted?: AbortSignal;
  /** The answers of a person at a terminal, one per question. */
  answers?: string[];
}

export interface CliResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Streams in memory. HOME is the folder itself, so that no other files are used. */
export function testIo(options: CliOptions = {}, written = { stdout: "", stderr: "" }): Io {
  const {
    cwd = "/",
    env = {},
    stdin = "",
    terminal = false,
    columns,
    interrupted = new AbortController().signal,
    answers,
  } = options;
  const typed = answers ? [...answers] : linesOf(stdin);
  const output = (stream: keyof typeof written) => ({
    isTerminal: terminal,
    isDumb: env["TERM"] === "dumb",
    columns,
    write: async (text: string) => {
      written[stream] += text;
    },
  });
  return {
    stdin: {
      text: async () => stdin,
      async line({ onReady }) {
        await onReady?.();
        return typed.shift();
      },
      dropTyped: async () => {},
      isTerminal: answers !== undefined,
    },
    stdout: output("stdout"),
    stderr: output("stderr"),
    env: {
      PATH: process.env["PATH"],
      HOME: cwd,
      CI: "true",
      CLAUDIKINS_DAEMON: "off",
      CLAUDIKINS_KEYCHAIN: "off",
      ...env,
    },
    cwd,
    interrupted,
  };
}

/** Runs `claudikins <argv>`, and throws if its JSON is not as documented. */
export async function cli(argv: string[], options: CliOptions = {}): Promise<CliResult> {
  const written = { stdout: "", stderr: "" };
  const result = { exitCode: await run(argv, testIo(options, written)), ...written };
  await checkJson(argv, result);
  return result;
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** The output as one text: `$ claudikins …`, each stream, and the exit code, with times as N. */
export function page(argv: string[], { exitCode, stdout, stderr }: CliResult, folder = "/no folder/"): string {
  const part = (name: string, text: string) => (text === "" ? [] : [`--- ${name}`, text.replace(/\n$/, "")]);
  const text = [`$ claudikins ${argv.join(" ")}`, ...part("stdout", stdout), ...part("stderr", stderr)].join("\n");
  return `${text}\n--- exit code ${exitCode}\n`
    .replaceAll(folder, "FOLDER")
    .replace(/\b\d[\d.,]* ms|(?<=· |ready in |started in |listed in )\d[\d.]* s\b|(?<= {2})\d[\d.]* s$/gm, "N ms");
}
