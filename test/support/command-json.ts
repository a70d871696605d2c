/** Holds what a command prints with `--json` to the shape that its help shows: exactly, undeclared keys are refused. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Command, Entry, Group } from "../../src/cli/command.ts";
import { commands } from "../../src/cli/command-table.ts";
import { failureShape } from "../../src/cli/shapes.ts";
import type { CliResult } from "../cli/in-memory.ts";

/** Every command with the words that call it. */
export const entries = entriesOf(commands, []);

function entriesOf(among: Record<string, Entry | Group>, path: string[]): { path: string; entry: Entry }[] {
  return Object.entries(among).flatMap(([name, entry]) =>
    "commands" in entry ? entriesOf(entry.commands, [...path, name]) : [{ path: [...path, name].join(" "), entry }],
  );
}

/** Throws where the output of a call is not as documented. Of calls without `--json`, and of no command, nothing is known. */
export async function checkJson(argv: string[], { exitCode, stdout, stderr }: CliResult): Promise<void> {
  const flags = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
  if (!flags.includes("--json") || ["--help", "-h", "help"].some((word) => flags.includes(word))) return;
  const line = `${argv.join(" ")} `;
  const found = entries.find(({ path }) => line.startsWith(`${path} `));
  const command = found && (await found.entry.load()).default;
  const problems = [
    ...documentsOf(argv, stdout).flatMap((text) => problemsOf(shapesOf(command).json, text)),
    ...(exitCode !== 0 && stdout === "" ? failureProblems(stderr, shapesOf(command).failure) : []),
  ];
  if (problems.length > 0) {
    throw new Error(`claudikins ${line}does not print what its help says: ${problems.join("; ")}\n${stdout}${stderr}`);
  }
}

/** One; of several queries, and of what is followed, one a line. */
function documentsOf(argv: string[], stdout: string): string[] {
  if (stdout === "") return [];
  const areLines =
    argv.some((word) => ["-", "--follow", "-f"].includes(word)) && /^(?:search|logs|daemon logs) /.test(argv.join(" "));
  return areLines ? stdout.split(/(?<=\n)/) : [stdout];
}

/** The last line; a sign-in says before it what it waits for, each thing as JSON. */
function failureProblems(stderr: string, shape: ValidateFunction): string[] {
  const lines = stderr.split(/(?<=\n)/);
  const last = lines.pop() ?? "";
  return [...problemsOf(shape, last), ...lines.flatMap((line) => problemsOf(anyObject, line))];
}

function problemsOf(validate: ValidateFunction, text: string): string[] {
  if (!/^[^\n]+\n$/.test(text)) return [`not one line: ${JSON.stringify(text)}`];
  try {
    if (validate(JSON.parse(text))) return [];
  } catch (error) {
    return [String(error)];
  }
  return (validate.errors ?? []).map(({ instancePath, message, params }) =>
    [instancePath, message, JSON.stringify(params)].join(" "),
  );
}

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
const anyObject = ajv.compile({ type: "object" });
const made = new WeakMap<object, { json: ValidateFunction; failure: ValidateFunction }>();
const none = {};

/** Of what is no command there are failures only. */
function shapesOf(command: Command | undefined) {
  const key = command ?? none;
  let shapes = made.get(key);
  if (!shapes) {
    const { json, jsonFailure } = command ?? { json: undefined, jsonFailure: {} };
    shapes = { json: ajv.compile(json ?? { not: {} }), failure: ajv.compile(failureShape(jsonFailure)) };
    made.set(key, shapes);
  }
  return shapes;
}
