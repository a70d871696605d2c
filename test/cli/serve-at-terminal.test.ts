/** `claudikins serve` started by a person. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { claudikinsCommand } from "../support/command.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { atTerminal } from "../support/terminal.ts";

setDefaultTimeout(60_000);

test.skipIf(process.platform === "win32")(
  "serve at a terminal says what it waits for, and Ctrl-C ends it",
  async () => {
    using folder = temporaryFolder();
    await using person = atTerminal([...claudikinsCommand, "serve"], { cwd: folder.path, env: { HOME: folder.path } });
    await person.see("Waiting for an agent that speaks MCP");
    await person.see("claudikins init");
    person.type("\u0003");
    expect(await person.exited).toBe(0);
  },
);

test("serve prints nothing on stderr for an agent", async () => {
  using folder = temporaryFolder();
  const env = testEnvironment({ HOME: folder.path });
  const ended = await runProgram([...claudikinsCommand, "serve"], { cwd: folder.path, env, stdin: "" });
  expect(ended).toEqual({ exitCode: 0, stdout: "", stderr: "" });
});
