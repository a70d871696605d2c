/** Describes the problems of a config file with their positions. */
import { type ParseError, printParseErrorCode, stripComments } from "jsonc-parser";
import type { z } from "zod";
import { ClaudikinsError } from "../base/errors.ts";

export interface ConfigProblem {
  /** Index in the text. */
  offset: number;
  text: string;
  /** The server whose entry has it. */
  server?: string | undefined;
}

/** A problem with its line and its column, such as `3:14`. */
export interface PlacedProblem {
  position: string;
  text: string;
}

/** The problems in the order of the file. */
export function placed(problems: readonly ConfigProblem[], whole: string): PlacedProblem[] {
  const sorted = problems.toSorted((a, b) => a.offset - b.offset);
  return sorted.map(({ offset, text }) => ({ position: position(whole, offset), text }));
}

/** Throws CONFIG_INVALID with all problems, in the order of the file. */
export function fail(file: string, text: string, problems: readonly ConfigProblem[]): never {
  throw invalidConfig(file, placed(problems, text));
}

export function invalidConfig(file: string, problems: readonly PlacedProblem[]): ClaudikinsError {
  const lines = problems.map(({ position, text }) => `  ${file}:${position}  ${text}`);
  const count = lines.length === 1 ? "a problem" : `${lines.length} problems`;
  return new ClaudikinsError("CONFIG_INVALID", `The config has ${count}:\n${lines.join("\n")}`, {
    hint: "Correct the file and run the command again. Nothing was started.",
  });
}

/** Describes why a text is not valid JSON. */
export function syntaxText(text: string, error: ParseError | undefined): string {
  if (!error || stripComments(text).trim() === "") return 'the file is empty: it needs at least {"mcpServers": {}}';
  const name = printParseErrorCode(error.error).replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`);
  return `not valid JSON: ${name.toLowerCase()}`;
}

/** Describes what was expected. The caller adds the value that was found. */
export function issueText(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type": {
      const expected = kinds[issue.expected] ?? `a ${issue.expected}`;
      return issue.input === undefined ? `missing, expected ${expected}` : `expected ${expected}`;
    }
    case "too_small":
      return issue.origin === "string" ? "must not be empty" : `must be at least ${issue.minimum}`;
    case "too_big":
      return `must be at most ${issue.maximum}`;
    case "invalid_value":
      return `expected ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}`;
    case "invalid_key":
      return issue.issues[0]?.message ?? "not valid";
    default:
      return issue.message ?? "not valid";
  }
}

const kinds: Record<string, string> = {
  object: "an object",
  record: "an object",
  array: "a list",
  int: "a whole number",
  boolean: "true or false",
};

/** Puts the source of a value on one line of at most 60 characters. */
export function shorten(source: string): string {
  const line = source.replace(/\s+/g, " ");
  return line.length > 60 ? `${line.slice(0, 57)}...` : line;
}

function position(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}
