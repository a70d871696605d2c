/** The errors that TypeScript's compiler reports for a text or for files. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { root } from "./claudikins.ts";
import { temporaryFolder } from "./temporary.ts";

const strict = ["--noEmit", "--strict", "--target", "esnext", "--lib", "esnext", "--pretty", "false"];

/** The errors, one per line: `12: error TS2322: …`; none if the text compiles. Strict, with only the types of the language. */
export function typeErrors(text: string): string[] {
  using folder = temporaryFolder();
  const file = folder.write("check.ts", `export {};\n${text}`);
  return compile(["--types", "", file], folder.path).map((line) =>
    line.replace(/^check\.ts\((\d+),\d+\)/, (_, number: string) => `${Number(number) - 1}`),
  );
}

/** The errors in these files and everything they import, which Node must be able to run directly. */
export function errorsInFiles(files: string[], cwd: string): string[] {
  // The option takes several paths with commas between them, so the path itself must have none.
  using roots = temporaryFolder();
  const typeRoot = join(roots.path, "types");
  symlinkSync(join(root, "node_modules", "@types"), typeRoot);
  const types = ["--typeRoots", typeRoot, "--types", "node"];
  const asNodeRunsThem = ["--erasableSyntaxOnly", "--verbatimModuleSyntax", "--isolatedModules"];
  const modules = ["--module", "nodenext", "--allowImportingTsExtensions", "--moduleDetection", "force"];
  return compile([...types, ...asNodeRunsThem, ...modules, "--noUnusedLocals", ...files], cwd);
}

/** The errors in programs, with the settings that TypeScript has without a tsconfig.json and these flags. Node's types are not found. */
export function errorsInPrograms(files: string[], cwd: string, flags: string[] = []): string[] {
  return run(["--noEmit", "--pretty", "false", "--moduleDetection", "force", ...flags, ...files], cwd);
}

/** The flags with which programs may also use Node's types. */
export const withNodeTypes = ["--typeRoots", join(root, "node_modules", "@types"), "--types", "node"];

function compile(args: string[], cwd: string): string[] {
  return run([...strict, ...args], cwd);
}

function run(args: string[], cwd: string): string[] {
  const { stdout, stderr } = Bun.spawnSync([join(root, "node_modules", ".bin", "tsc"), ...args], { cwd });
  return `${stdout}${stderr}`.split("\n").filter((line) => line !== "");
}
