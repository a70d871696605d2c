/** What TypeScript's compiler says of a text, and of a folder. */
import { join } from "node:path";
import { root } from "./claudikins.ts";
import { temporaryFolder } from "./temporary.ts";

const strict = ["--noEmit", "--strict", "--target", "esnext", "--lib", "esnext", "--pretty", "false"];

/** The errors, one a line: `12: error TS2322: …`; none when the text compiles. Strict, with no types but the language's. */
export function typeErrors(text: string): string[] {
  using folder = temporaryFolder();
  const file = folder.write("check.ts", `export {};\n${text}`);
  return compile(["--types", "", file], folder.path).map((line) =>
    line.replace(/^check\.ts\((\d+),\d+\)/, (_, number: string) => `${Number(number) - 1}`),
  );
}

/** The errors in these files and all that they import, which have to be such that Node can run them by itself. */
export function errorsInFiles(files: string[], cwd: string): string[] {
  const types = ["--typeRoots", join(root, "node_modules", "@types"), "--types", "node"];
  const asNodeRunsThem = ["--erasableSyntaxOnly", "--verbatimModuleSyntax", "--isolatedModules"];
  const modules = ["--module", "nodenext", "--allowImportingTsExtensions", "--moduleDetection", "force"];
  return compile([...types, ...asNodeRunsThem, ...modules, "--noUnusedLocals", ...files], cwd);
}

function compile(args: string[], cwd: string): string[] {
  const { stdout, stderr } = Bun.spawnSync([join(root, "node_modules", ".bin", "tsc"), ...strict, ...args], { cwd });
  return `${stdout}${stderr}`.split("\n").filter((line) => line !== "");
}
