/** Finds the module or package whose absence explains why a server did not start. */
import type { StdioServer } from "../../config/load.ts";

/** The words of runtimes that cannot find a file or a module. The first group is its name. */
const modules = [
  /Cannot find (?:module|package) '([^']+)'/,
  /\bModule not found:? "([^"]+)"/i,
  /\bModuleNotFoundError: No module named '([^']+)'/,
  /\bpython[\d.]*(?:\.exe)?: No module named (\S+)$/,
  /\bcan't open file '([^']+)'/,
];

/** The words of package runners that find a package in no registry. The first group is its name. */
const packages = [
  /\b404 {1,2}'([^']+?)(?:@\*)?' is not in this registry/,
  /\b404 {1,2}The requested resource '([^']+?)(?:@\*)?' could not be found/,
  /\bBecause (\S+) was not found in the package registry/,
];

interface MissingModule {
  /** Ends a sentence that begins with the server's name. */
  why: string;
  hint: string;
  /** See FailureFacts. */
  onPage?: string | undefined;
  /** The path of the missing file, if the config names it. */
  path?: string | undefined;
}

/** `lines` are the last ones of the server's output. Undefined if they name no such module. */
export function missingModule(lines: readonly string[], { name, args }: StdioServer): MissingModule | undefined {
  const file = foundBy(modules, lines)?.replace(/^file:\/\//, "");
  if (file !== undefined) {
    const owner = args.includes(file) ? undefined : packageThatNeeds(file, lines);
    if (owner !== undefined) {
      return {
        why: `its package ${owner} cannot find the module ${file}`,
        hint: `Install ${owner} again or in another version, or report this to its authors.`,
      };
    }
    if (args.includes(file) || isPath(file)) return missingFile(file, name);
    return {
      why: `it cannot find the module ${file}`,
      hint: `Install ${file} where "${name}" is installed, or correct "args" of "${name}" in the config.`,
      onPage: `Install ${file} where "${name}" is installed, or correct its arguments.`,
    };
  }
  const found = foundBy(packages, lines);
  if (found === undefined) return undefined;
  return {
    why: `no registry has the package ${found}`,
    hint: `Correct the name of the package in "args" of "${name}" in the config, or sign in to its registry.`,
    onPage: "Correct the name of the package in its arguments, or sign in to its registry.",
  };
}

/** The failure of a server whose program is a file that does not exist. */
export function missingFile(path: string, name: string): MissingModule {
  return {
    why: `there is no file ${path}`,
    hint: `Install "${name}" there, or correct the path in "args" of "${name}" in the config.`,
    onPage: `Install "${name}" there, or correct the path in its arguments.`,
    path,
  };
}

/** Where runtimes say which file needs the module. The first group is its path. */
const importers = [
  /\bimported from (?:file:\/\/)?["']?([^"']+?)["']?$/,
  /\bfrom ['"]([^'"]+)['"]$/,
  /^\s*- (\S.*)$/,
  /^\s*File "([^"]+)", line \d+/,
];

/** The installed package whose file needs the module, or has it. Undefined if the file belongs to no package. */
function packageThatNeeds(file: string, lines: readonly string[]): string | undefined {
  const paths = lines.flatMap((line) => importers.map((form) => form.exec(line)?.[1] ?? ""));
  return [file, ...paths].map(packageOf).find((name) => name !== undefined);
}

function packageOf(path: string): string | undefined {
  const found = /.*[\\/](?:node_modules|site-packages|dist-packages)[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(
    path,
  )?.[1];
  return found?.replace("\\", "/");
}

function foundBy(forms: readonly RegExp[], lines: readonly string[]): string | undefined {
  for (const line of lines) for (const form of forms) if (form.test(line)) return form.exec(line)?.[1];
  return undefined;
}

const isPath = (text: string) => /^(?:[\\/]|[A-Za-z]:[\\/])/.test(text);
