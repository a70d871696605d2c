/** The question whether a tool may be called. It is short enough to be read, and no argument can imitate its own lines. */
import { visible } from "./visible.ts";

export interface Question {
  server: string;
  tool: string;
  args: object;
  /** Why the person is asked. */
  why: string;
  /** The parts of the tool that changed since the person last allowed it. Undefined if nothing changed. */
  changed?: readonly string[] | undefined;
}

/** Maximum lengths in characters. The whole question fits into a terminal window. */
const maxName = 120;
const maxWhy = 300;
const maxLine = 200;
const first = { lines: 10, characters: 800 };
const last = { lines: 5, characters: 400 };

export function questionText({ server, tool, args, why, changed }: Question): string {
  const name = `${nameText(server)}.${nameText(tool)}`;
  const { lines, leftOut } = argumentLines(args);
  return [
    `Allow the call to ${name}?`,
    `You are asked because ${shortened(why, maxWhy)}.`,
    ...(changed ? [changeText(changed)] : []),
    ...(lines.length === 0 ? ["It has no arguments."] : ["Its arguments:", "", ...lines, ""]),
    // Repeated at the end, because the first line may have left the screen.
    ...(leftOut > 0 ? [`Allow the call to ${name}? ${notShown(leftOut, " of its arguments")} above.`] : []),
  ].join("\n");
}

/** As `questionText`, with all arguments. Long lines are broken, so that a terminal does not break them where an argument wants it. */
export function wholeQuestionText({ server, tool, args, why, changed }: Question, width: number): string {
  const lines = JSON.stringify(args) === "{}" ? [] : jsonLines(args);
  const all = lines.flatMap(({ indent, text }) => brokenLine(indent, text, Math.max(width - indent.length, leastLine)));
  return [
    `Allow the call to ${nameText(server)}.${nameText(tool)}?`,
    `You are asked because ${shortened(why, maxWhy)}.`,
    ...(changed ? [changeText(changed)] : []),
    ...(all.length === 0 ? ["It has no arguments."] : ["Its arguments:", "", ...all, ""]),
  ].join("\n");
}

/** Minimum length of a broken line. */
const leastLine = 20;

function brokenLine(indent: string, text: string, most: number): string[] {
  const letters = [...text];
  const parts: string[] = [];
  while (letters.length > 0) {
    let part = "";
    while (letters.length > 0 && Bun.stringWidth(part + letters[0]) <= most) part += letters.shift();
    parts.push(part === "" ? (letters.shift() ?? "") : part);
  }
  return parts.map((part) => indent + part);
}

/** The lines of indented JSON. All line breaks and indents are ours. */
function jsonLines(args: object): { indent: string; text: string }[] {
  return JSON.stringify(args, null, 2)
    .split("\n")
    .map((line) => {
      const indent = /^ */.exec(line)?.[0] ?? "";
      return { indent: `    ${indent.slice(0, 40)}`, text: visible(line.slice(indent.length)) };
    });
}

function changeText(changed: readonly string[]): string {
  const parts = changed.length > 0 ? `: ${changed.join(", ")}` : "";
  return `The tool has changed since you allowed it${parts}. Your earlier approval no longer applies.`;
}

/** The arguments as indented JSON. Lines of their own say what is left out; no argument can contain such a line. */
function argumentLines(args: object): { lines: string[]; leftOut: number } {
  if (JSON.stringify(args) === "{}") return { lines: [], leftOut: 0 };
  const all = jsonLines(args).map(({ indent, text }) => lineOf(indent, text));
  const begin = fitting(all, first);
  const end = fitting(all.slice(begin).toReversed(), last);
  const between = all.slice(begin, all.length - end);
  const betweenChars = between.reduce((sum, line) => sum + line.characters, 0);
  const mark = between.length > 0 ? [`    … ${notShown(betweenChars, ` in ${between.length} lines`)} …`] : [];
  const shown = [...all.slice(0, begin), ...all.slice(all.length - end)];
  return {
    lines: [
      ...all.slice(0, begin).flatMap(({ texts }) => texts),
      ...mark,
      ...all.slice(all.length - end).flatMap(({ texts }) => texts),
    ],
    leftOut: betweenChars + shown.reduce((sum, line) => sum + line.leftOut, 0),
  };
}

interface Line {
  /** One line, or three if the middle is left out. */
  texts: string[];
  characters: number;
  leftOut: number;
}

function lineOf(indent: string, text: string): Line {
  if (text.length <= maxLine) return { texts: [indent + text], characters: text.length, leftOut: 0 };
  const { head, tail, leftOut } = halves(text, maxLine);
  const texts = [indent + head, `${indent}… ${notShown(leftOut)} …`, indent + tail];
  return { texts, characters: text.length, leftOut };
}

/** The number of lines that fit. The longest line fits alone. */
function fitting(lines: readonly Line[], room: { lines: number; characters: number }): number {
  let count = 0;
  let characters = 0;
  for (const { texts } of lines.slice(0, room.lines)) {
    characters += texts.join("").length;
    if (characters > room.characters) break;
    count += 1;
  }
  return count;
}

/** Plain words are not quoted. */
function nameText(name: string): string {
  return shortened(/^[\w.-]+$/.test(name) ? name : visible(JSON.stringify(name)), maxName);
}

/** Both ends of the text, and how much is left out between them. */
function shortened(text: string, most: number): string {
  const shown = visible(text);
  if (shown.length <= most) return shown;
  const { head, tail, leftOut } = halves(shown, most);
  return `${head} (${notShown(leftOut)}) ${tail}`;
}

/** Does not split a character of two code units. */
function halves(text: string, most: number): { head: string; tail: string; leftOut: number } {
  const half = Math.floor(most / 2);
  const head = text.slice(0, half).replace(/[\ud800-\udbff]$/, "");
  const tail = text.slice(-half).replace(/^[\udc00-\udfff]/, "");
  return { head, tail, leftOut: text.length - head.length - tail.length };
}

/** Such as `5 characters of its arguments are not shown`. */
function notShown(characters: number, where = ""): string {
  if (characters === 1) return `1 character${where} is not shown`;
  return `${characters.toLocaleString("en")} characters${where} are not shown`;
}
