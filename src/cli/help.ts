/** The help of all commands, of a group, and of one command: as text, and as JSON for programs. */
import { about, either, failureShape, named, type Shape } from "../base/json-shape.ts";
import { documentation, version } from "../base/version.ts";
import type { Arg, Command, CommandTable, Group } from "./command.ts";
import { argumentPlaces, flagsOf } from "./command-line.ts";
import { answers, commands, firstCommands, sections, shownOf } from "./command-table.ts";
import { wrappedLines } from "./terminal/layout.ts";
import { bold, cyan } from "./terminal/terminal-output.ts";

/** Minimum width of a wrapped summary. */
const minSummaryChars = 30;

/** A name and its summary. */
type NameLine = readonly [name: string, summary: string];

/** The general help, which fits on one screen: the first commands, or all of them by section. */
export function overviewText(width: number, isWhole = false): string {
  const summaries = new Map(shownOf(commands));
  const names = Math.max(...[...summaries.keys()].map((name) => name.length));
  const lines = (section: readonly string[]) =>
    rows(
      section.map((name): NameLine => [name, summaries.get(name) ?? ""]),
      width,
      names,
    );
  const start = `claudikins ${version}: all your MCP servers behind two small tools.

Usage: claudikins <command> [options]

`;
  if (isWhole) {
    const parts = Object.entries(sections).map(([title, section]) => heading(title) + lines(section));
    return `${start}${parts.join("\n")}
Help for a command: claudikins <command> --help
`;
  }
  return `${start}${heading("Commands")}${lines(firstCommands)}
${heading("How to")}${rows(Object.entries(answers), width)}
Without a config file, claudikins uses its built-in demo server. Try:
  claudikins exec -e 'return (await demo.list_orders({ status: "paid" })).total'
All commands: claudikins --help --all
Help for a command: claudikins <command> --help
With --json, errors on stderr are {"error":{"code","message","hint"?}}
Documentation: ${documentation}
`;
}

export function groupText(group: Group, path: string[], width: number): string {
  const name = ["claudikins", ...path].join(" ");
  return `${wrappedLines(group.description, width).join("\n")}

Usage: ${name} <command> [options]

${rows(shownOf(group.commands), width)}
Help for a command: ${name} <command> --help
`;
}

export function commandText(command: Command, path: string[], width: number): string {
  const { description, args, examples, json } = command;
  const places = argumentPlaces(args).map(([name, arg]): NameLine => [name, arg.description]);
  const flags = flagsOf(args).map(flagLine);
  const parts = [
    `${wrappedLines(description, width).join("\n")}\n`,
    `Usage: ${usageText(command, path)}\n`,
    places.length > 0 && heading("Arguments") + rows(places, width),
    flags.length > 0 && heading("Options") + rows(flags, width),
    heading("Examples") + examples.map((line) => `  ${line}\n`).join(""),
    json && `Schema of the --json output: claudikins ${path.join(" ")} --help --json\n`,
  ];
  return parts.filter(Boolean).join("\n");
}

export function usageText({ args }: Command, path: string[]): string {
  const options = flagsOf(args).length > 0 ? ["[options]"] : [];
  return ["claudikins", ...path, ...options, ...argumentPlaces(args).map(placeText)].join(" ");
}

function heading(title: string): string {
  return `${bold(`${title}:`)}\n`;
}

function rows(lines: NameLine[], width: number, names = Math.max(...lines.map(([name]) => name.length))): string {
  const room = width - names - 4;
  const indent = `\n${" ".repeat(names + 4)}`;
  return lines
    .map(([name, summary]) => {
      const text = wrappedLines(summary, room < minSummaryChars ? undefined : room).join(indent);
      return `  ${cyan(name.padEnd(names))}  ${text}\n`;
    })
    .join("");
}

function placeText([name, { required, several }]: [string, Arg]): string {
  const text = several ? `${name}…` : name;
  return required === false ? `[${text}]` : `<${text}>`;
}

/** The short form comes first; flags without one are indented to align. */
export function flagLine([name, arg]: [string, Arg]): NameLine {
  const { short } = arg;
  const value = arg.type === "boolean" ? "" : ` <${arg.valueHint ?? name}>`;
  return [`${short === undefined ? "    " : `-${short}, `}--${name}${value}`, arg.description];
}

/** `{"command","description","usage","arguments","options","examples","output"?}` */
export async function commandJson(command: Command, path: string[]): Promise<object> {
  const { description, args, examples, json, jsonFailure } = command;
  return {
    command: path.join(" "),
    description,
    usage: usageText(command, path),
    arguments: argumentPlaces(args).map(([name, arg]) => ({
      name,
      description: arg.description,
      required: arg.required !== false,
      several: arg.several,
    })),
    options: flagsOf(args).map(([name, arg]) => ({
      name: `--${name}`,
      short: arg.short && [`-${arg.short}`],
      value: arg.type === "boolean" ? undefined : (arg.valueHint ?? name),
      choices: arg.choices,
      repeatable: arg.repeatable,
      description: arg.description,
    })),
    examples,
    output: json && {
      success: json,
      failure: failureShape(jsonFailure),
      typescript: await typesOf(json, jsonFailure),
    },
  };
}

/** `{"version","commands":[{"command","description"}]}`, or `command` in place of `version` for a group. */
export function commandsJson(among: CommandTable, path: string[]): object {
  const commands = shownOf(among).map(([name, summary]) => ({
    command: [...path, name].join(" "),
    description: summary,
  }));
  return { ...(path.length > 0 ? { command: path.join(" ") } : { version }), commands };
}

/** The shapes as TypeScript, each named shape once. */
async function typesOf(json: Shape, more: Readonly<Record<string, Shape>>): Promise<string> {
  const { declareType } = await import("../tools/types/declarations.ts");
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
