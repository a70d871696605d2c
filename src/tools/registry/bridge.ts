/** Writes the shared files of a registry: `_runtime/bridge.ts`, through which its files make calls, and a README. */
import { join } from "node:path";
import { writeWhenChanged } from "../../base/files.ts";
import { bridgeCode } from "./bridge-code.ts";
import { sharedMark } from "./generated-mark.ts";
import { hookTexts, readmeMark } from "./hook-texts.ts";
import { type Difference, differenceOf } from "./store.ts";

const modulesText = '{ "type": "module" }\n';

/** The registry's folder must exist. The files are the same on every machine. Throws FILE_NOT_WRITABLE. */
export function writeBridge(folder: string): void {
  for (const { path, text, isOurs } of sharedFiles(folder)) writeWhenChanged(path, text, isOurs);
}

/** The changes that `writeBridge` would make. */
export function bridgeDifferences(folder: string): Difference[] {
  return sharedFiles(folder).flatMap(({ path, text, isOurs }) => differenceOf(path, text, isOurs));
}

interface SharedFile {
  path: string;
  text: string;
  isOurs(found: string): boolean;
}

function sharedFiles(folder: string): SharedFile[] {
  return [
    ...Object.entries(bridgeFiles).map(([name, text]) => ({
      path: join(folder, "_runtime", name),
      text,
      isOurs: (found: string) => found.startsWith(sharedMark),
    })),
    // Node would treat the files as CommonJS if the project's package.json does not say "module".
    { path: join(folder, "package.json"), text: modulesText, isOurs: (found) => found === modulesText },
    { path: join(folder, "README.md"), text: hookTexts.readme, isOurs: (found) => found.startsWith(readmeMark) },
  ];
}

const codeFile = "bridge-code.js";

/** The file that tool files import. It has only the types, because Node needs time to strip them. */
const typed = `${sharedMark}
// @ts-nocheck
import * as code from ${JSON.stringify(`./${codeFile}`)};

/** Calls one tool. Resolves to the same value as in the sandbox. Rejects with an error that has a code and a suggestion. */
export function call<Result>(server: string, tool: string, args: unknown): Promise<Result> {
  return code.call(server, tool, args);
}

/** Calls the tool if the file of this import.meta is the program that was started. Otherwise does nothing. */
export function program(meta: ImportMeta, tool: object): void {
  code.program(meta, tool);
}
`;

/** The files of `_runtime`, by name. */
const bridgeFiles: Record<string, string> = { "bridge.ts": typed, [codeFile]: `${sharedMark}\n${bridgeCode()}` };
