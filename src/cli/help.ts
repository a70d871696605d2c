/** Help texts: of everything, of a group of commands, of one command with the shape of its JSON. */
import { version } from "../version.ts";
import { bold, cyan, paint } from "./colours.ts";
import type { Arg, Command } from "./command.ts";
import { about, either, failureShape, named, type Shape } from "./shapes.ts";
import { wrapped } from "./word-wrap.ts";

export interface Page {
  colours: boolean;
  /** Of the terminal, where there is one. */
  width?: number | undefined;
}

/** A name, and what it stands for. */
type Line = readonly [name: string, summary: string];

export interface Section {
  title: string;
  lines: Line[];
}

/** One screen, whatever there is. */
export function overviewText(sections: Section[], page: Page): string {
  const width = Math.max(...sections.flatMap(({ lines }) => lines.map(([name]) => name.length)));
  const texts = sections.map(({ title, lines }) => heading(title, page) + rows(lines, page, width));
  return `claudikins ${version}: all your MCP servers behind two small tools.

Usage: claudikins <command> [options]

${texts.join("\n")}
Without a config file, everything works on the demo server. Try:
  claudikins exec -e 'return (await demo.list_orders({ status: "paid" })).total'

Help for a command: claudikins <command> --help
With --json, what goes wrong is {"error":{"code","message","hint"?}}, in one line on stderr.
`;
}

export function groupText(description: string, lines: Line[], path: string[], page: Page): string {
  const name = ["claudikins", ...path].join(" ");
  return `${paragraph(description, page)}

Usage: ${name} <command> [options]

${rows(lines, page)}
Help for a command: ${name} <command> --help
`;
}

/** The writer of types is loaded only where there is one to write. */
export async function commandText(command: Command, path: string[], page: Page): Promise<string> {
  const { description, args, examples, json } = command;
  const positionals = Object.entries(args).filter(([, arg]) => arg.type === "positional");
  const flags = Object.entries(args).filter(([, arg]) => arg.type !== "positional");
  const usage = ["claudikins", ...path, ...(flags.length > 0 ? ["[options]"] : []), ...positionals.map(placeText)];
  const parts = [
    `${paragraph(description, page)}\n`,
    `Usage: ${usage.join(" ")}\n`,
    positionals.length > 0 &&
      heading("Arguments", page) +
        rows(
          positionals.map(([name, arg]) => [name, arg.description ?? ""]),
          page,
        ),
    flags.length > 0 && heading("Options", page) + rows(flags.map(flagLine), page),
    heading("Examples", page) + examples.map((line) => `  ${line}\n`).join(""),
    json && heading("JSON", page) + indented(await jsonText(json, command.jsonFailure)),
  ];
  return parts.filter(Boolean).join("\n");
}

function heading(title: string, { colours }: Page): string {
  return `${paint(`${title}:`, bold, colours)}\n`;
}

function paragraph(text: string, { width }: Page): string {
  return wrapped(text, width).join("\n");
}

/** In narrower columns a line breaks too often to be read. */
const leastSummary = 30;

function rows(lines: Line[], page: Page, names = Math.max(...lines.map(([name]) => name.length))): string {
  const room = (page.width ?? Number.POSITIVE_INFINITY) - names - 4;
  const indent = `\n${" ".repeat(names + 4)}`;
  return lines
    .map(([name, summary]) => {
      const text = wrapped(summary, room < leastSummary ? undefined : room).join(indent);
      return `  ${paint(name.padEnd(names), cyan, page.colours)}  ${text}\n`;
    })
    .join("");
}

function placeText([name, { required, several }]: [string, Arg]): string {
  const text = several ? `${name}…` : name;
  return required === false ? `[${text}]` : `<${text}>`;
}

/** A short form first, with room for it where there is none. */
function flagLine([name, arg]: [string, Arg]): Line {
  const [short] = "alias" in arg ? [arg.alias].flat() : [];
  const value = arg.type === "boolean" ? "" : ` <${arg.valueHint ?? name}>`;
  return [`${short === undefined ? "    " : `-${short}, `}--${name}${value}`, arg.description ?? ""];
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}

/** As TypeScript, each named shape once. */
async function jsonText(json: Shape, more: Readonly<Record<string, Shape>>): Promise<string> {
  const { declareType } = await import("../registry/types/declarations.ts");
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
    shapes.push(named("Failure", about("In one line, on stderr; stdout is empty", failureShape(more))));
  }
  const document = { ...(withNames(either(...shapes)) as Shape), $defs };
  // What holds them together is no type of anything.
  return declareType(document, "All", new Set()).replace(/^.*\n\n?/, "");
}
