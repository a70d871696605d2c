/** Saved programs as files of a folder: `NAME.ts`, `NAME.json` and `NAME.recording.json`. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ClaudikinsError, messageOf, systemCodeOf } from "../../base/errors.ts";
import { isObject, type JsonObject, parsedJson } from "../../base/json-object.ts";
import { type Recording, readRecording } from "../../programs/recordings/format.ts";
import { recordingIn } from "../../programs/recordings/recording-files.ts";
import type { TestedProgram } from "../../programs/recordings/test-program.ts";
import { problemOfName, type SavedProgram } from "../../programs/saved/model.ts";

/** A program, and its recordings. */
export interface FolderProgram {
  program: TestedProgram;
  recordings: { file: string; read: () => Promise<Recording> }[];
}

/** What `NAME.json` says about a program. */
export type ProgramAbout = Pick<SavedProgram, "input" | "output" | "calls"> & { description: string | undefined };

/** Throws USAGE for a text that does not describe a program. `file` names it. */
export function aboutIn(json: string, file: string): ProgramAbout {
  const value = parsedJson(json);
  const { description, input, output, calls } = Object(value) as Partial<SavedProgram>;
  const isListed = Array.isArray(calls) && calls.every((each) => typeof each === "string");
  if (!isObject(value) || !isListed || !isObject(input) || typeof (description ?? "") !== "string") {
    throw new ClaudikinsError("USAGE", `${file} does not describe a program`, {
      hint: 'It needs "description", "input" (a JSON Schema) and "calls" (what the program may call).',
    });
  }
  return { description, input: input as JsonObject, output: isObject(output) ? output : undefined, calls };
}

/** In the order of their names. Throws FILE_NOT_FOUND and USAGE. */
export async function programsIn(folder: string): Promise<FolderProgram[]> {
  const files = (
    await readdir(folder).catch((cause) => {
      throw notReadable(folder, cause);
    })
  ).sort();
  const names = files.flatMap((file) => {
    const name = file.replace(/\.ts$/, "");
    return file !== name && problemOfName(name) === undefined && files.includes(`${name}.json`) ? [name] : [];
  });
  return Promise.all(
    names.map(async (name) => {
      const [code, about] = await Promise.all([textOf(folder, `${name}.ts`), textOf(folder, `${name}.json`)]);
      const { input, calls } = aboutIn(about, `${name}.json`);
      const recordings = files
        .filter((file) => recordingIn(file)?.program === name)
        .map((file) => ({ file, read: async () => readRecording(await textOf(folder, file), file) }));
      return { program: { name, code, input, calls }, recordings };
    }),
  );
}

async function textOf(folder: string, file: string): Promise<string> {
  try {
    return await readFile(join(folder, file), "utf8");
  } catch (cause) {
    throw notReadable(join(folder, file), cause);
  }
}

function notReadable(path: string, cause: unknown): ClaudikinsError {
  const why = systemCodeOf(cause) === "ENOENT" ? "it does not exist" : messageOf(cause);
  return new ClaudikinsError("FILE_NOT_FOUND", `Cannot read ${path}: ${why}`, { cause });
}
