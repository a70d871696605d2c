/** Config entries of the real servers in the tests, started with node from their installed packages. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { root } from "./claudikins.ts";

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

/** A program of test/fixtures/servers, run by Bun. */
export const fixture = (name: string, ...args: string[]): Entry => ({
  command: process.execPath,
  args: [join(root, "test", "fixtures", "servers", `${name}.ts`), ...args],
});

/** The smallest server, for tests with very many: it offers the tools of a file, which is a list on one line. */
export const tiny = (file: string): Entry => ({
  command: "sh",
  args: [join(root, "test", "fixtures", "servers", "tiny.sh"), file],
});
