/** Help as JSON, for programs: with the shape of what a command prints with `--json`, as JSON Schema and as TypeScript. */
import { declareType } from "../registry/types/declarations.ts";
import { version } from "../version.ts";
import type { Arg, Command, CommandTable } from "./command.ts";
import { shownOf } from "./command-table.ts";
import { split, usageText } from "./help.ts";
import { about, either, failureShape, named, type Shape } from "./shapes.ts";

/** `{"command","description","usage","arguments","options","examples","output"?}` */
export function commandJson(command: Command, path: string[]): string {
  const { description, args, examples, json, jsonFailure } = command;
  const [positionals, flags] = split(args);
  return line({
    command: path.join(" "),
    description,
    usage: usageText(command, path),
    arguments: positionals.map(([name, arg]) => ({
      name,
      description: arg.description,
      required: arg.required !== false,
      ...(arg.several ? { several: true } : {}),
    })),
    options: flags.map(optionJson),
    examples,
    ...(json
      ? { output: { success: json, failure: failureShape(jsonFailure), typescript: typesOf(json, jsonFailure) } }
      : {}),
  });
}

/** `{"version","commands":[{"command","description"}]}`, or `command` in place of `version` for a group. */
export function commandsJson(among: CommandTable, path: string[]): string {
  const commands = shownOf(among).map(([name, summary]) => ({
    command: [...path, name].join(" "),
    description: summary,
  }));
  return line({ ...(path.length > 0 ? { command: path.join(" ") } : { version }), commands });
}

function optionJson([name, arg]: [string, Arg]): object {
  return {
    name: `--${name}`,
    ...(arg.short === undefined ? {} : { short: [`-${arg.short}`] }),
    ...(arg.type === "boolean" ? {} : { value: arg.valueHint ?? name }),
    ...(arg.choices ? { choices: arg.choices } : {}),
    ...(arg.repeatable ? { repeatable: true } : {}),
    description: arg.description,
  };
}

const line = (document: object) => `${JSON.stringify(document)}\n`;

/** The shapes as TypeScript, each named shape once. */
function typesOf(json: Shape, more: Readonly<Record<string, Shape>>): string {
  const $defs: Record<string, Shape> = {};
  const withNames = (value: unknown): unknown => {
    if (value === json) return { $ref: "#/$defs/Output" };
    if (Array.isArray(value)) return value.map(withNames);
    if (typeof value !== "object" || value === null) return value;
    const { title, ...shape } = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withNames(each)]));
    if (typeof title !== "string") return shape;
    $defs[title] = shape;
    return { $ref: `#/$defs/${title}` };
  };
  const shapes = [named("Output", json)];
  if (Object.keys(more).length > 0) {
    shapes.push(named("Failure", about("One line on stderr; stdout is empty", failureShape(more))));
  }
  const document = { ...(withNames(either(...shapes)) as Shape), $defs };
  // The first type only holds the others together.
  return declareType(document, "All", new Set()).replace(/^.*\n\n?/, "");
}
