/** Commands at a real terminal whose servers and code print control sequences: they are shown as escapes, and pipes get them unchanged. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { claudikinsCommand } from "../support/command.ts";
import { type GeneratedProject, generatedProject } from "../support/daemon.ts";
import { allHostile, obeyed } from "../support/hostile-text.ts";
import { runProgram } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { atTerminal } from "../support/terminal.ts";

setDefaultTimeout(120_000);

let project: GeneratedProject;
let cwd: string;
beforeAll(async () => {
  project = await generatedProject(() => ({
    escapes: { ...fixture("escapes"), category: "test", description: `The ${allHostile} server.` },
  }));
  cwd = join(project.path, "project");
});
afterAll(() => project[Symbol.asyncDispose]());

async function written(command: string[], typed: string[] = []): Promise<string> {
  await using person = atTerminal(command, { cwd, env: { ...project.env, NO_COLOR: "" } });
  for (const answer of typed) {
    await person.see(": ");
    person.type(answer);
  }
  await person.exited;
  return person.text;
}

const claudikins = (...argv: string[]) => [...claudikinsCommand, ...argv];
const code = JSON.stringify(allHostile);

describe.skipIf(process.platform === "win32")("no control sequence reaches a terminal from", () => {
  test("a text value", async () => {
    const shown = await written(claudikins("exec", "--no-daemon", "-e", `return ${code} + "END"`));
    expect(obeyed(shown)).toEqual([]);
    expect(shown).toContain("END");
  });

  test.each<[string, string[]]>([
    ["an object", ["exec", "-e", `return { [${code}]: [${code}] }`]],
    ["a value as JSON", ["exec", "--json", "-e", `return ${code}`]],
    [
      "logs of every kind",
      [
        "exec",
        "-e",
        `console.log(${code}); console.error(${code}); console.table([{ a: ${code} }]); process.stdout.write(${code})`,
      ],
    ],
    ["displayed values", ["exec", "-e", `display({ type: ${code}, mimeType: ${code}, data: "" }); display(${code})`]],
    ["a thrown error", ["exec", "-e", `throw new Error(${code})`]],
    [
      "a thrown error with its own name and stack",
      [
        "exec",
        "-e",
        `const error = new Error(${code}); error.name = ${code}; error.stack = ${code}; error.hint = ${code}; throw error`,
      ],
    ],
    ["code that cannot be parsed", ["exec", "-e", `const a = "${"\u202e\u009b"}" ${"\u202e"} b`]],
    ["a tool's result", ["exec", "-e", "return escapes.speak({})"]],
    ["a tool's failure", ["exec", "-e", "return escapes.fail({})"]],
    ["a server's refusal", ["exec", "-e", "return escapes.refuse({})"]],
    ["messages that --wire prints", ["exec", "--wire", "--no-daemon", "-e", "return escapes.speak({ word: 'x' })"]],
    ["our own log", ["exec", "--verbose", "--no-daemon", "-e", "return escapes.speak({})"]],
    ["call", ["call", "escapes.speak"]],
    ["call of a tool that fails", ["call", "escapes.fail"]],
    ["the help of a tool", ["call", "escapes.speak", "--help"]],
    ["search", ["search", "speak loudly"]],
    ["search for names", ["search", "server:escapes", "--detail", "names"]],
    ["search with full definitions", ["search", "speak", "--detail", "full"]],
    ["search as JSON", ["search", "speak", "--json"]],
    ["a search query", ["search", "\u202e\u009b2Jzzz"]],
    ["list", ["list"]],
    ["list --check", ["list", "--check"]],
    ["list tools", ["list", "tools", "escapes"]],
    ["gen", ["gen"]],
    ["a log", ["logs", "escapes"]],
    ["all logs", ["logs"]],
    ["executions", ["trace"]],
    ["doctor", ["doctor"]],
    ["stats", ["stats"]],
    ["an unknown command", ["\u001b[2J\u202enope"]],
    ["an unknown flag", ["exec", "--\u009b2J\u202enope"]],
  ])("%s", async (_, argv) => {
    expect(obeyed(await written(claudikins(...argv)))).toEqual([]);
  });

  test("questions for arguments", async () => {
    const shown = await written(claudikins("call", "escapes.speak", "--interactive"), ["word\r", "\r"]);
    expect(obeyed(shown)).toEqual([]);
    expect(shown).toContain("word");
  });

  test("a log that is followed", async () => {
    await project.claudikins("call", "escapes.speak");
    await using person = atTerminal(claudikins("logs", "escapes", "--follow"), { cwd, env: project.env });
    await person.see("start");
    person.type("\u0003");
    await person.exited;
    expect(obeyed(person.text)).toEqual([]);
  });

  test("a generated file that is run as a program", async () => {
    for (const [tool, ...args] of [
      ["speak", "{}"],
      ["speak", "--help"],
      ["fail", "{}"],
    ]) {
      const shown = await written([process.execPath, project.file(tool!, "escapes"), ...args]);
      expect([tool, obeyed(shown)]).toEqual([tool, []]);
      expect(shown.length).toBeGreaterThan(20);
    }
  });

  test("a config whose names are hostile", async () => {
    const other = join(project.path, "other");
    mkdirSync(other);
    const entry = { ...fixture("escapes"), allow: [allHostile], env: { [`A${allHostile}`]: "${MISSING}" } };
    project.write("other/claudikins.json", { mcpServers: { [`name${allHostile}`]: entry }, [allHostile]: 1 });
    for (const argv of [["list"], ["doctor"], ["search", "x"], ["exec", "-e", "return 1"]]) {
      await using person = atTerminal(claudikins(...argv), { cwd: other, env: project.env });
      await person.exited;
      expect([argv, obeyed(person.text)]).toEqual([argv, []]);
    }
  });
});

describe.skipIf(process.platform === "win32")("a terminal shows", () => {
  test("control characters as escapes, and JSON that parses to the same value", async () => {
    expect(await written(claudikins("exec", "-e", 'return "a\\u202eb\\u001b[2Jc\\u{e0041}"'))).toContain(
      "a\\u202eb\\u001b[2Jc\\udb40\\udc41",
    );
    const shown = await written(claudikins("exec", "--json", "--no-daemon", "-e", `return ${code}`));
    expect(JSON.parse(/\{.*\}/s.exec(shown)![0]).value).toBe(allHostile);
  });

  test("letters of all languages, emoji, tabs and line breaks unchanged", async () => {
    const text = "Straße 日本語 привет שלום عربي می‌خواهم क्‍ष 👩‍👩‍👧 ❤️ 👍🏽 e\u0301\tone\ntwo";
    const shown = await written(claudikins("exec", "-e", `return ${JSON.stringify(text)}`));
    expect(shown).toContain(text.replace("\n", "\r\n"));
  });

  test("only our own colours", async () => {
    const shown = await written(claudikins("exec", "-e", 'console.error("\\u001b[31mx\\u001b[0m")'));
    expect(shown).toContain("\u001b[31merror \u001b[0m\\u001b[31mx\\u001b[0m");
  });
});

test("pipes and --json get every character unchanged", async () => {
  const run = (...argv: string[]) => runProgram(claudikins("exec", ...argv), { cwd, env: project.env });
  expect((await run("-e", `return ${code}`)).stdout).toBe(`${allHostile}\n`);
  expect(JSON.parse((await run("--json", "-e", `return ${code}`)).stdout).value).toBe(allHostile);
  // A log ends at a NUL character.
  const logged = allHostile.replaceAll("\0", "");
  const log = (level: string) => `console.${level}(${JSON.stringify(logged)})`;
  expect((await run("-e", log("log"))).stderr).toStartWith(`${logged}\n`);
  const forced = await runProgram(claudikins("exec", "-e", `${log("error")}; return ${code}`), {
    cwd,
    env: { ...project.env, NO_COLOR: "", FORCE_COLOR: "1" },
  });
  expect(forced.stdout).toBe(`${allHostile}\n`);
  expect(forced.stderr).toStartWith(`\u001b[31merror \u001b[0m${logged}\n`);
});

test("completions offer no names with control characters", async () => {
  const { stdout } = await project.claudikins("complete", "zsh", "--", "call", "escapes.");
  expect(stdout).toContain("escapes.speak");
  expect(obeyed(stdout)).toEqual([]);
  expect(stdout).not.toContain("odd");
  const parameters = await project.claudikins("complete", "zsh", "--", "call", "escapes.speak", "");
  expect(parameters.stdout).toContain("word=");
  expect(obeyed(parameters.stdout)).toEqual([]);
});
