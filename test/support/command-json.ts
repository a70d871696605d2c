/** Compares the output of a command with `--json` with the shape in its help; undeclared keys are errors. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { failureShape } from "../../src/base/json-shape.ts";
import type { Command, CommandEntry, Group } from "../../src/cli/command.ts";
import { readCommandLine, withDefault } from "../../src/cli/command-line.ts";
import { commands } from "../../src/cli/command-table.ts";
import type { CliResult } from "../cli/in-memory.ts";

/** Every command with the words that call it. */
export const entries = entriesOf(commands, []);

function entriesOf(
  among: Record<string, CommandEntry | Group>,
  path: string[],
): { path: string; entry: CommandEntry }[] {
  return Object.entries(among).flatMap(([name, entry]) =>
    "commands" in entry ? entriesOf(entry.commands, [...path, name]) : [{ path: [...path, name].join(" "), entry }],
  );
}

/** Throws if the output of a call is not as documented. Does nothing for calls without `--json`. */
export async function checkJson(argv: string[], { exitCode, stdout, stderr }: CliResult): Promise<void> {
  const flags = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
  if (!flags.includes("--json") || ["--help", "-h", "help"].some((word) => flags.includes(word))) return;
  const line = `${argv.join(" ")} `;
  const { entry } = withDefault(readCommandLine(argv, commands));
  const command = entry && (await entry.load()).default;
  const problems = [
    ...documentsOf(argv, stdout).flatMap((text) => problemsOf(shapesOf(command).json, text)),
    ...(exitCode !== 0 && stdout === "" ? failureProblems(stderr, shapesOf(command).failure) : []),
  ];
  if (problems.length > 0) {
    throw new Error(`claudikins ${line}does not print what its help says: ${problems.join("; ")}\n${stdout}${stderr}`);
  }
}

/** One document, or one per line for several queries and for followed output. */
function documentsOf(argv: string[], stdout: string): string[] {
  if (stdout === "") return [];
  const areLines =
    argv.some((word) => ["-", "--follow", "-f"].includes(word)) && /^(?:search|logs|daemon logs) /.test(argv.join(" "));
  return areLines ? stdout.split(/(?<=\n)/) : [stdout];
}

/** The error on the last line; a sign-in prints other JSON lines before it. */
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

/** The shapes of a command's output. An unknown command can only fail. */
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
