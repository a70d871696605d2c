/** Config entries of the real servers in the tests, started with node from their installed packages. */
import { readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { cachedBuild, hashOf, root } from "./claudikins.ts";

export interface Entry {
  command: string;
  args: string[];
  env?: Record<string, string>;
}

const require = createRequire(join(root, "package.json"));

function packageEntry(name: string, ...args: string[]): Entry {
  const manifest = require.resolve(`@modelcontextprotocol/${name}/package.json`);
  const { bin } = require(manifest) as { bin: Record<string, string> };
  return { command: "node", args: [join(dirname(manifest), Object.values(bin)[0] ?? ""), ...args] };
}

export const everything = (): Entry => packageEntry("server-everything", "stdio");
export const filesystem = (folder: string): Entry => packageEntry("server-filesystem", folder);
export const sequentialThinking = (): Entry => packageEntry("server-sequential-thinking");
/** `mark` is on its command line, so that processes can be counted; the server itself reads no arguments. */
export const memory = (file: string): Entry => ({
  ...packageEntry("server-memory", file),
  env: { MEMORY_FILE_PATH: file },
});

/** A program of test/fixtures/servers. */
export const fixture = (name: string, ...args: string[]): Entry => ({
  command: fixturePrograms(),
  args: [name, ...args],
});

const fixtureFolder = join(root, "test", "fixtures", "servers");
let fixturesPath: string | undefined;

/**
 * One executable of all programs in test/fixtures/servers. Its first argument is the name of a program, and only the parts of that one
 * are read. Tests start thousands of them: a program without the SDK takes 20 ms of CPU, one with it 75, and a source file 170.
 */
export function fixturePrograms(): string {
  fixturesPath ??= cachedBuild(
    `fixtures-${hashOf("test/fixtures", "test/hostile", "bun.lock")}/fixtures`,
    (outfile) => {
      const names = readdirSync(fixtureFolder).filter((name) => name.endsWith(".ts"));
      const cases = names.map((file) => {
        return `case "${basename(file, ".ts")}": await import(${JSON.stringify(join(fixtureFolder, file))}); break;`;
      });
      const main = `${outfile}.ts`;
      writeFileSync(
        main,
        `switch (process.argv.splice(2, 1)[0]) {\n${cases.join("\n")}\ndefault: throw new Error("there is no such fixture");\n}\n`,
      );
      return ["build", "--compile", "--bytecode", "--splitting", "--format=esm", main, "--outfile", outfile];
    },
  );
  return fixturesPath;
}

/** The smallest server, for tests with very many: it offers the tools of a file, which is a list on one line. */
export const tiny = (file: string): Entry => ({
  command: "sh",
  args: [join(root, "test", "fixtures", "servers", "tiny.sh"), file],
});
