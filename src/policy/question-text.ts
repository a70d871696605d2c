/** The question whether a tool may be called. It is short enough to be read, and no argument can imitate its own lines. */

import { visible } from "./hidden-characters.ts";

/** Characters of a name. The whole question fits into a terminal window. */
const maxQuestionNameChars = 120;

/** Characters of the reason why the user is asked. */
const maxWhyChars = 700;

/** Characters of one line of the arguments. */
const maxArgumentLineChars = 200;

/** Longer arguments are not read as a whole, and the number of omitted characters is not exact. */
const maxExactChars = 100_000;

/** Minimum characters of a broken line. */
const minBrokenLineChars = 20;

/** A question shows this much of the end of long arguments. */
const lastArgumentLines = { lines: 5, characters: 400 };

/** A question shows this much of the beginning of long arguments. */
const firstArgumentLines = { lines: 10, characters: 800 };

export interface Question {
  server: string;
  /** The tool's own name. */
  tool: string;
  /** The name that agents know it by, if that is a different name. `why` mentions it to the user. */
  shownAs?: string | undefined;
  /** Without secrets of the config. */
  args: object;
  /** Why the user is asked. */
  why: string;
  /** The same for the agent, without data. */
  told: string;
  /** The parts of the tool that changed since the user last allowed it. Undefined if nothing changed. */
  changed?: readonly string[] | undefined;
}

export function questionText({ server, tool, args, why, changed }: Omit<Question, "told">): string {
  const name = `${nameText(server)}.${nameText(tool)}`;
  const { lines, leftOut } = argumentLines(args);
  return [
    `Allow the call to ${name}?`,
    `You are asked because ${shortened(why, maxWhyChars)}.`,
    ...(changed ? [changeText(changed)] : []),
    ...(lines.length === 0 ? ["It has no arguments."] : ["Its arguments:", "", ...lines, ""]),
    // Repeated at the end, because the first line may have left the screen.
    ...(leftOut.characters > 0 ? [`Allow the call to ${name}? ${notShown(leftOut, " of its arguments")} above.`] : []),
  ].join("\n");
}

/** Like `questionText`, with all arguments. `json` contains the arguments as indented JSON, or its beginning. */
export function wholeQuestionText(
  { server, tool, why, changed }: Omit<Question, "args" | "told">,
  json: string,
  width: number,
): string {
  return [
    `Allow the call to ${nameText(server)}.${nameText(tool)}?`,
    `You are asked because ${shortened(why, maxWhyChars)}.`,
    ...(changed ? [changeText(changed)] : []),
    ...(json === "{}" ? ["It has no arguments."] : ["Its arguments:", "", ...brokenLines(json, width), ""]),
  ].join("\n");
}

function changeText(changed: readonly string[]): string {
  const parts = changed.length > 0 ? `: ${changed.join(", ")}` : "";
  return `The tool has changed since you allowed it${parts}. Your earlier approval no longer applies.`;
}

/** Plain words are not quoted. */
function nameText(name: string): string {
  return shortened(/^[\w.-]+$/.test(name) ? name : visible(JSON.stringify(name)), maxQuestionNameChars);
}

/** Both ends of the text, and how much is left out between them. */
function shortened(text: string, most: number): string {
  const shown = visible(text);
  if (shown.length <= most) return shown;
  const { head, tail, leftOut } = halves(shown, most);
  return `${head} (${notShown({ characters: leftOut, isExact: true })}) ${tail}`;
}

/** A number of characters that are not shown. */
interface LeftOut {
  characters: number;
  isExact: boolean;
}

/**
 * The first and the last lines of the arguments as indented JSON. A separate line says how much is left out. No argument can contain such a
 * line. The time depends on what is shown, not on the rest.
 */
function argumentLines(args: object): { lines: string[]; leftOut: LeftOut } {
  const json = JSON.stringify(args, null, 2);
  if (json === "{}") return { lines: [], leftOut: { characters: 0, isExact: true } };
  const isExact = json.length <= maxExactChars;
  const begin = fitting(linesFrom(json, isExact), firstArgumentLines, 0);
  const end = fitting(linesBackTo(json, begin.rest, isExact), lastArgumentLines, json.length);
  const between = betweenOf(json.slice(begin.rest, end.rest), isExact);
  const where = ` in ${between.lines} lines`;
  const mark = between.lines > 0 ? [`    … ${notShown({ characters: between.characters, isExact }, where)} …`] : [];
  const shown = [...begin.lines, ...end.lines];
  return {
    lines: [
      ...begin.lines.flatMap(({ texts }) => texts),
      ...mark,
      ...end.lines.toReversed().flatMap(({ texts }) => texts),
    ],
    leftOut: {
      characters: between.characters + shown.reduce((sum, line) => sum + line.leftOut, 0),
      isExact: isExact || (between.lines === 0 && shown.every(({ leftOut }) => leftOut === 0)),
    },
  };
}

/** All lines of indented JSON. Long lines are broken, so that a terminal does not break them where an argument wants it. */
function brokenLines(json: string, width: number): string[] {
  return json.split("\n").flatMap((line) => {
    const { indent, text } = partsOf(line);
    return brokenLine(indent, visible(text), Math.max(width - indent.length, minBrokenLineChars));
  });
}

/** Matches text in which every character has the width 1. */
const plain = /^[\x20-\x7e]*$/;

function brokenLine(indent: string, text: string, most: number): string[] {
  const lines: string[] = [];
  if (plain.test(text)) {
    for (let at = 0; at < text.length; at += most) lines.push(indent + text.slice(at, at + most));
    return lines;
  }
  let part = "";
  for (const letter of text) {
    if (part !== "" && Bun.stringWidth(part + letter) > most) {
      lines.push(indent + part);
      part = "";
    }
    part += letter;
  }
  if (part !== "") lines.push(indent + part);
  return lines;
}

/** Splits a line into indent and text. All line breaks and indents are ours. */
function partsOf(line: string): { indent: string; text: string } {
  const indent = /^ */.exec(line)?.[0] ?? "";
  return { indent: `    ${indent.slice(0, 40)}`, text: line.slice(indent.length) };
}

interface ShownLine {
  /** One line, or three if the middle is left out. */
  texts: string[];
  leftOut: number;
  /** The place in the JSON after this line, or before it for lines that are read backwards. */
  rest: number;
}

function* linesFrom(json: string, isExact: boolean): Generator<ShownLine> {
  for (let at = 0; at < json.length; ) {
    const end = json.indexOf("\n", at);
    const line = json.slice(at, end < 0 ? json.length : end);
    at = end < 0 ? json.length : end + 1;
    yield { ...lineOf(line, isExact), rest: at };
  }
}

/** The lines from the last one back to the one that begins at `from`. */
function* linesBackTo(json: string, from: number, isExact: boolean): Generator<ShownLine> {
  for (let end = json.length; end > from; ) {
    const before = json.lastIndexOf("\n", end - 1);
    const start = Math.max(before + 1, from);
    yield { ...lineOf(json.slice(start, end), isExact), rest: start };
    end = start - 1;
  }
}

function lineOf(line: string, isExact: boolean): Omit<ShownLine, "rest"> {
  const { indent, text } = partsOf(line);
  const ends = isExact || text.length <= 2 * maxArgumentLineChars ? exactEnds(visible(text)) : roughEnds(text);
  if (ends.leftOut === 0) return { texts: [indent + ends.head], leftOut: 0 };
  const mark = `${indent}… ${notShown({ characters: ends.leftOut, isExact })} …`;
  return { texts: [indent + ends.head, mark, indent + ends.tail], leftOut: ends.leftOut };
}

function exactEnds(text: string): Ends {
  return text.length <= maxArgumentLineChars
    ? { head: text, tail: "", leftOut: 0 }
    : halves(text, maxArgumentLineChars);
}

/** Both ends of a text that is too long to be made visible as a whole. */
function roughEnds(text: string): Ends {
  // An escape is never shorter than the character that it stands for, and depends only on a few characters before it.
  const { head } = halves(visible(text.slice(0, maxArgumentLineChars)), maxArgumentLineChars);
  const { tail } = halves(visible(text.slice(-maxArgumentLineChars)), maxArgumentLineChars);
  return { head, tail, leftOut: text.length - maxArgumentLineChars };
}

/** The lines that fit. The longest line fits alone. `rest` is the place in the JSON after the last of these lines, counted from `start`. */
function fitting(all: Generator<ShownLine>, room: { lines: number; characters: number }, start: number) {
  const lines: ShownLine[] = [];
  let characters = 0;
  let rest = start;
  for (const line of all) {
    characters += line.texts.join("").length;
    if (lines.length === room.lines || characters > room.characters) break;
    lines.push(line);
    rest = line.rest;
  }
  return { lines, rest };
}

function betweenOf(json: string, isExact: boolean): { lines: number; characters: number } {
  if (json === "") return { lines: 0, characters: 0 };
  const whole = json.endsWith("\n") ? json.slice(0, -1) : json;
  if (isExact) {
    const lines = whole.split("\n");
    return {
      lines: lines.length,
      characters: lines.reduce((sum, line) => sum + visible(partsOf(line).text).length, 0),
    };
  }
  let lines = 1;
  for (let at = whole.indexOf("\n"); at >= 0; at = whole.indexOf("\n", at + 1)) lines += 1;
  return { lines, characters: whole.length };
}

interface Ends {
  head: string;
  tail: string;
  leftOut: number;
}

/** Does not split a character of two code units. */
function halves(text: string, most: number): Ends {
  const half = Math.floor(most / 2);
  const head = text.slice(0, half).replace(/[\ud800-\udbff]$/, "");
  const tail = text.slice(-half).replace(/^[\udc00-\udfff]/, "");
  return { head, tail, leftOut: text.length - head.length - tail.length };
}

/** Such as `5 characters of its arguments are not shown`. A number that is not exact is rounded to three digits. */
function notShown({ characters, isExact }: LeftOut, where = ""): string {
  if (characters === 1) return `1 character${where} is not shown`;
  const shown = isExact ? characters : Number(characters.toPrecision(3));
  return `${isExact ? "" : "about "}${shown.toLocaleString("en")} characters${where} are not shown`;
}
