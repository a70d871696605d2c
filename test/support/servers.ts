/** Config entries of the servers in the tests. Those of npm are started with node. */
import { readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { cachedBuild, executable, hashOf, root } from "./claudikins.ts";

export interface Entry {
  command: string;
  args: string[];
  env?: Record<string, string>;
}

const packages = "@modelcontextprotocol/server-";
export const bundledPackages = ["everything", "filesystem", "memory", "sequential-thinking"].map(
  (name) => packages + name,
);

let bundles: string | undefined;

/**
 * Each package is bundled into one file, at the path that it has in node_modules. Node starts it with 170 ms of CPU in place of 400,
 * because it reads one file in place of hundreds.
 */
function packageEntry(name: string, ...args: string[]): Entry {
  bundles ??= cachedBuild(`packages-${hashOf("bun.lock", "test/support/bundle-servers.ts")}`, (outfolder) => [
    join(import.meta.dir, "bundle-servers.ts"),
    outfolder,
  ]);
  return { command: "node", args: [join(bundles, "node_modules", packages + name, "dist", "index.js"), ...args] };
}

/** The demo of the executable starts with 75 ms of CPU, and from source with 190. */
export const builtInDemo = (): Entry => ({ command: executable(), args: ["demo"] });

export const everything = (): Entry => packageEntry("everything", "stdio");
export const filesystem = (folder: string): Entry => packageEntry("filesystem", folder);
export const sequentialThinking = (): Entry => packageEntry("sequential-thinking");
/** `mark` is on its command line, so that processes can be counted; the server itself reads no arguments. */
export const memory = (file: string): Entry => ({
  ...packageEntry("memory", file),
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
