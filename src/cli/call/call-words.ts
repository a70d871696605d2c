/**
 * Reads the words of `claudikins call`: the tool and its arguments, including files and standard input. Generated files read
 * their arguments here too, so nothing here may need Bun.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ClaudikinsError, messageOf, systemCodeOf } from "../../base/errors.ts";
import { parseExact } from "../../base/exact-json.ts";
import { isObject } from "../../base/json-object.ts";
import { type ArgumentWord, argumentForms, notAnArgument, shortened } from "../../programs/argument-words.ts";
import type { Io } from "../io.ts";

export interface CallWords {
  target: string;
  /** The tool's name, if it is a separate word after the server. */
  tool?: string;
  given: ArgumentWord[];
  /** The mark of a hook text: see `tools/registry/hooks.ts`. */
  via?: string;
}

/** `args` is the value of `--args`. Throws USAGE, FILE_NOT_FOUND. */
export async function readCall(
  [target = "", ...words]: string[],
  args: string | undefined,
  io: Io,
): Promise<CallWords> {
  const call: CallWords = { target, given: [] };
  const via = words.find(isMark);
  const rest = words.filter((word) => !isMark(word));
  if (via !== undefined) call.via = via;
  if (rest[0] !== undefined && isName(rest[0])) call.tool = rest.shift()!;
  call.given = await readGiven(rest, args, io);
  return call;
}

/** Where the words come from. */
type Source = Pick<Io, "cwd"> & { stdin: Pick<Io["stdin"], "text"> };

/** Reads arguments; marks are ignored. Throws USAGE, FILE_NOT_FOUND. */
export async function readGiven(words: string[], args: string | undefined, io: Source): Promise<ArgumentWord[]> {
  const rest = words.filter((word) => !isMark(word));
  if ([...rest, args].filter((word) => word === "-").length > 1) {
    throw new ClaudikinsError("USAGE", "Standard input can be read only once, but - is given twice");
  }
  const given = args === undefined ? [] : [await objectOf(args, "--args", io)];
  for (const word of rest) given.push(await givenBy(word, io));
  return given;
}

export function isMark(word: string): boolean {
  return /^via:[a-z-]{1,40}$/.test(word);
}

function isName(word: string): boolean {
  return word !== "-" && !/^[@{]/.test(word) && !word.includes("=");
}

async function givenBy(word: string, io: Source): Promise<ArgumentWord> {
  if (isName(word)) throw notAnArgument(word);
  const shown = shortened(word);
  const [, key, sign, value = ""] = /^(?!\{|@)(.+?)(:?=)(.*)$/s.exec(word) ?? [];
  if (key === undefined) return objectOf(word, shown, io);
  const file = value.startsWith("@") ? value.slice(1) : undefined;
  if (sign === "=") {
    const hint = `To pass the text itself: ${key}:='${JSON.stringify(value)}'`;
    return { word: shown, key, text: file === undefined ? value : fileText(file, word, io, hint) };
  }
  const hint = `To pass it as text: ${key}=${shortened(value)}`;
  if (file === undefined) return { word: shown, key, json: parsed(value, shown, hint) };
  return { word: shown, key, json: parsed(fileText(file, word, io), `${file} (from ${shown})`) };
}

/** All arguments as one JSON text, a file or standard input. `what` is its name in errors. */
async function objectOf(text: string, what: string, io: Source): Promise<ArgumentWord> {
  const source = text === "-" ? "Standard input" : text.startsWith("@") ? text.slice(1) : what;
  const json = text === "-" ? await io.stdin.text() : text.startsWith("@") ? fileText(text.slice(1), text, io) : text;
  const object = parsed(json, source, argumentForms);
  if (!isObject(object)) {
    throw new ClaudikinsError("USAGE", `${source} must be a JSON object with the tool's arguments by name`, {
      hint: argumentForms,
    });
  }
  return { word: what, object };
}

function parsed(json: string, what: string, hint?: string): unknown {
  try {
    return parseExact(json);
  } catch (cause) {
    throw new ClaudikinsError("USAGE", `${what} is not JSON: ${messageOf(cause)}`, { hint, cause });
  }
}

function fileText(path: string, word: string, io: Source, hint?: string): string {
  if (path === "")
    throw new ClaudikinsError("USAGE", `"${shortened(word)}" has no file name after the @`, { hint: argumentForms });
  try {
    return readFileSync(resolve(io.cwd, path), "utf8");
  } catch (cause) {
    const why = systemCodeOf(cause) === "ENOENT" ? "the file does not exist" : messageOf(cause);
    throw new ClaudikinsError("FILE_NOT_FOUND", `Cannot read ${path}, given as "${shortened(word)}": ${why}`, {
      hint,
    });
  }
}
