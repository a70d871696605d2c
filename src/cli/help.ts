/** The help text of all commands, of a group, and of one command. */
import { documentation, version } from "../version.ts";
import { bold, cyan, paint } from "./colours.ts";
import type { Arg, Args, Command } from "./command.ts";
import { wrapped } from "./word-wrap.ts";

export interface Page {
  colours: boolean;
  /** The width of the terminal in characters. Undefined without a terminal. */
  width?: number | undefined;
}

/** A name and its summary. */
type Line = readonly [name: string, summary: string];

export interface Section {
  title: string;
  lines: Line[];
}

/** The general help, which fits on one screen. */
export function overviewText(sections: Section[], page: Page): string {
  const width = Math.max(...sections.flatMap(({ lines }) => lines.map(([name]) => name.length)));
  const texts = sections.map(({ title, lines }) => heading(title, page) + rows(lines, page, width));
  return `claudikins ${version}: all your MCP servers behind two small tools.

Usage: claudikins <command> [options]

${texts.join("\n")}
Without a config file, claudikins uses its built-in demo server. Try:
  claudikins exec -e 'return (await demo.list_orders({ status: "paid" })).total'
Help for a command: claudikins <command> --help
With --json, errors on stderr are {"error":{"code","message","hint"?}}
Documentation: ${documentation}
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

export function commandText(command: Command, path: string[], page: Page): string {
  const { description, args, examples, json } = command;
  const [positionals, flags] = split(args);
  const parts = [
    `${paragraph(description, page)}\n`,
    `Usage: ${usageText(command, path)}\n`,
    positionals.length > 0 &&
      heading("Arguments", page) +
        rows(
          positionals.map(([name, arg]) => [name, arg.description]),
          page,
        ),
    flags.length > 0 && heading("Options", page) + rows(flags.map(flagLine), page),
    heading("Examples", page) + examples.map((line) => `  ${line}\n`).join(""),
    json && `Schema of the --json output: claudikins ${path.join(" ")} --help --json\n`,
  ];
  return parts.filter(Boolean).join("\n");
}

/** Positional arguments, and flags. */
export function split(args: Args): [positionals: [string, Arg][], flags: [string, Arg][]] {
  const all = Object.entries(args);
  return [all.filter(([, arg]) => arg.type === "positional"), all.filter(([, arg]) => arg.type !== "positional")];
}

export function usageText({ args }: Command, path: string[]): string {
  const [positionals, flags] = split(args);
  return ["claudikins", ...path, ...(flags.length > 0 ? ["[options]"] : []), ...positionals.map(placeText)].join(" ");
}

function heading(title: string, { colours }: Page): string {
  return `${paint(`${title}:`, bold, colours)}\n`;
}

function paragraph(text: string, { width }: Page): string {
  return wrapped(text, width).join("\n");
}

/** Minimum width of a wrapped summary, in characters. */
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

/** The short form comes first; flags without one are indented to align. */
export function flagLine([name, arg]: [string, Arg]): Line {
  const { short } = arg;
  const value = arg.type === "boolean" ? "" : ` <${arg.valueHint ?? name}>`;
  return [`${short === undefined ? "    " : `-${short}, `}--${name}${value}`, arg.description];
}
