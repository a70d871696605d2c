/** What the README shows is what happens: its examples run, its configs are valid, its commands exist. */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseConfig } from "../src/config/parse.ts";
import { fromSource, root } from "./support/claudikins.ts";
import { runProgram } from "./support/process.ts";
import { type TemporaryFolder, temporaryFolder } from "./support/temporary.ts";

setDefaultTimeout(30_000);

const readme = readFileSync(join(root, "README.md"), "utf8");

/** The fenced blocks of one language, in order. */
function blocks(language: string): string[] {
  return [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    ([, text = ""]) => text,
  );
}

const steady = (text: string) => text.replace(/[\d,]+ ms/, "N ms");

let folder: TemporaryFolder;
beforeAll(() => {
  folder = temporaryFolder();
  return () => folder[Symbol.dispose]();
});

test("the example prints what the README shows", async () => {
  const [program = ""] = blocks("ts");
  const [session = ""] = blocks("console");
  const [command, ...shown] = session.split("\n");
  expect(command).toBe("$ claudikins exec top-customers.ts");
  folder.write("top-customers.ts", program);
  const { stdout, stderr, exitCode } = await runProgram([...fromSource, "exec", "top-customers.ts"], {
    cwd: folder.path,
  });
  const [log, receipt] = stderr.split("\n");
  expect(steady(`${log}\n${stdout}${receipt}\n`)).toBe(steady(shown.join("\n")));
  expect(exitCode).toBe(0);
});

test("every claudikins command of the shell blocks succeeds", async () => {
  const commands = blocks("sh").flatMap((block) => block.split("\n").filter((line) => line.startsWith("claudikins ")));
  expect(commands.length).toBeGreaterThanOrEqual(3);
  for (const command of commands) {
    const script = `claudikins() { ${fromSource.map((part) => `'${part}'`).join(" ")} "$@"; }\n${command}`;
    const { exitCode, stdout, stderr } = await runProgram(["sh", "-c", script], { cwd: folder.path });
    expect({ command, exitCode, stderr: exitCode === 0 ? "" : stderr }).toEqual({ command, exitCode: 0, stderr: "" });
    expect(stdout).not.toBe("");
  }
});

test("every config is valid", () => {
  const configs = blocks("json");
  expect(configs.length).toBe(3);
  for (const config of configs) expect(() => parseConfig(config, "claudikins.json")).not.toThrow();
});

test("the two commands of a newcomer are the ones that CI runs", () => {
  const ci = readFileSync(join(root, ".ci", "run"), "utf8");
  const [install, run] = blocks("sh").map((block) => block.trim());
  expect(install).toBe("./install.sh");
  expect(run).toBe("npm test");
  expect(ci).toContain(install ?? "");
  expect(ci).toContain(run ?? "");
});
