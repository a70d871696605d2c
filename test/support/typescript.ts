/** What TypeScript's compiler says of a text. */
import { join } from "node:path";
import { root } from "./claudikins.ts";
import { temporaryFolder } from "./temporary.ts";

/** The errors, one a line: `12: error TS2322: …`; none when the text compiles. Strict, with no types but the language's. */
export function typeErrors(text: string): string[] {
  using folder = temporaryFolder();
  const file = folder.write("check.ts", `export {};\n${text}`);
  const tsc = join(root, "node_modules", ".bin", "tsc");
  const options = ["--noEmit", "--strict", "--target", "esnext", "--lib", "esnext", "--types", "", "--pretty", "false"];
  const { stdout, stderr } = Bun.spawnSync([tsc, ...options, file], { cwd: folder.path });
  return `${stdout}${stderr}`
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.replace(/^check\.ts\((\d+),\d+\)/, (_, number: string) => `${Number(number) - 1}`));
}
