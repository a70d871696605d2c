/** The console blocks of the documentation that show output show what claudikins prints. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { executable } from "../support/claudikins.ts";
import { runProgram } from "../support/process.ts";
import { everything, filesystem, memory, sequentialThinking } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { atTerminal } from "../support/terminal.ts";
import { blocksOf, docsPages } from "./pages.ts";

setDefaultTimeout(60_000);

interface Shown {
  page: string;
  command: string;
  output: string[];
}

const pathOf = ({ path }: { path: string }) => path;

/** The commands of console blocks that are followed by output. */
const shown = docsPages.flatMap((page): Shown[] =>
  blocksOf(page).flatMap(({ info, text }) => {
    if (info !== "console") return [];
    const commands: Shown[] = [];
    for (const line of text.trimEnd().split("\n")) {
      if (line.startsWith("$ ")) commands.push({ page: pathOf(page), command: line.slice(2), output: [] });
      // A longer command goes on in an indented line.
      else if (!/\\$/.test(commands.at(-1)?.command ?? "")) commands.at(-1)?.output.push(line);
    }
    return commands.filter(({ output }) => output.length > 0);
  }),
);

const blockOf = (command: string) => {
  const found = shown.find((each) => each.command.startsWith(command));
  if (!found) throw new Error(`no page shows the output of ${command}`);
  return found;
};

test("every command that is shown with output is compared here or in test/readme.test.ts", () => {
  expect(shown.map(({ page, command }) => `${page}: ${command.split(" -e ")[0]}`)).toEqual([
    "docs/getting-started.md: claudikins exec top-customers.ts",
    "docs/getting-started.md: claudikins init --apply",
    "docs/policy.md: claudikins list",
    "docs/waiting.md: claudikins exec --detach",
    "docs/waiting.md: claudikins executions wait 0t80fs9gjc",
  ]);
});

test("init prints the table, the sum and the last lines of getting-started", async () => {
  using folder = temporaryFolder();
  const servers = {
    files: filesystem(folder.path),
    memory: memory(join(folder.path, "memory.json")),
    everything: everything(),
    thinking: sequentialThinking(),
  };
  folder.write(".claude.json", { mcpServers: servers });
  const { output } = blockOf("claudikins init --apply");
  const env = { HOME: folder.path, XDG_CONFIG_HOME: join(folder.path, ".config") };
  const { stdout, stderr } = await runProgram([executable(), "init", "--apply"], { cwd: folder.path, env });
  const printed = [...stdout.split("\n"), ...stderr.split("\n")].map((line) => line.replaceAll(folder.path, "~"));
  // Servers that need the network are not started here.
  const expected = output.filter((line) => !/^(?:context7|github) |^\d+ tools of /.test(line) && line !== "");
  expect(printed).toEqual(expect.arrayContaining(expected));
  const sum =
    /^\d+ tools of \d+ servers: about [\d,]+ tokens of definitions \(estimated\)\. With claudikins: at most \d+\.$/;
  for (const lines of [printed, output]) expect(lines.filter((line) => sum.test(line))).toHaveLength(1);
  const figures = output
    .flatMap((line) => /- +(\d+) +([\d,]+)$/.exec(line)?.slice(1) ?? [])
    .map((text) => Number(text.replace(",", "")));
  const total = (at: number) => figures.filter((_, index) => index % 2 === at).reduce((all, each) => all + each, 0);
  expect(output.find((line) => sum.test(line))).toStartWith(
    `${total(0)} tools of 6 servers: about ${total(1).toLocaleString("en")} tokens`,
  );
});

test("the first command in a project asks for trust as the page about the policy shows", async () => {
  using folder = temporaryFolder();
  const entry = {
    command: "npx",
    args: ["-y", "@modelcontextprotocol/server-github"],
    env: { GITHUB_PERSONAL_ACCESS_TOKEN: "${GITHUB_TOKEN}" },
  };
  folder.write("shop/claudikins.json", { mcpServers: { github: entry } });
  const cwd = join(folder.path, "shop");
  await using person = atTerminal([executable(), "list"], { cwd, env: { HOME: join(folder.path, "home"), CI: "" } });
  await person.see("[y/N]");
  const lines = person.text.replaceAll("\r\n", "\n").replaceAll(cwd, "/home/me/shop");
  expect(lines.trimEnd()).toBe(blockOf("claudikins list").output.join("\n"));
});

test("a detached program prints its id, and wait prints its value", async () => {
  using folder = temporaryFolder();
  const env = { HOME: folder.path, XDG_RUNTIME_DIR: folder.path, CLAUDIKINS_DAEMON: "on" };
  const run = (...words: string[]) => runProgram([executable(), ...words], { cwd: folder.path, env });
  const [, program = ""] =
    /^claudikins exec --detach -e '(.*)'$/.exec(blockOf("claudikins exec --detach").command) ?? [];
  try {
    // The page waits for an hour.
    const { stdout: id } = await run("exec", "--detach", "-e", program.replace('"1h"', '"10ms"'));
    expect(id).toMatch(/^[\da-z]{28}\n$/);
    expect(blockOf("claudikins exec --detach").output[0]).toHaveLength(28);
    const { stdout } = await run("executions", "wait", id.slice(0, 10));
    expect(stdout.trimEnd()).toBe(blockOf("claudikins executions wait").output.join("\n"));
  } finally {
    await run("daemon", "stop", "--all", "--now");
  }
});
