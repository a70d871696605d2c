/** Questions of servers are asked at the terminal. Without one, servers are told that nobody can answer. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { claudikinsCommand } from "../support/command.ts";
import { ownFolder } from "../support/own-folder.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { everything, fixture } from "../support/servers.ts";
import { atTerminal } from "../support/terminal.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });
beforeEach(() => {
  const every = everything();
  folder.write("claudikins.json", {
    mcpServers: {
      asker: fixture("protocol", "stdio", folder.path),
      every: { ...every, args: [...every.args, folder.path] },
    },
  });
});

const where = () => ({ cwd: folder.path, env: { HOME: folder.path, CLAUDIKINS_DAEMON: "off", BROWSER: "none" } });
const form = {
  message: "Who \u001b[31mare you?",
  requestedSchema: {
    type: "object",
    properties: {
      name: { type: "string", description: "As your friends call you" },
      age: { type: "integer", minimum: 0 },
      colour: { type: "string", enum: ["red", "blue"], default: "blue" },
    },
    required: ["name"],
  },
};
const page = { mode: "url", message: "Sign in", url: "https://example.com/in", elicitationId: "1" };
const asking = (params: object) =>
  `return await asker.ask(${JSON.stringify({ method: "elicitation/create", params })})`;

describe.skipIf(process.platform === "win32")("at a terminal", () => {
  const exec = (code: string) => atTerminal([...claudikinsCommand, "exec", "--json", "-e", code], where());

  test("a form is shown and answered field by field", async () => {
    await using person = exec(asking(form));
    await person.see("[asker] Who");
    await person.see("Do you want to answer?");
    person.type("y\r");
    await person.see("As your friends call you");
    await person.see("name: ");
    person.type("Ada\r");
    await person.see("age: ");
    person.type("many\r");
    await person.see("age: ");
    person.type("36\r");
    await person.see("colour: ");
    person.type("1\r");
    expect(await person.exited).toBe(0);
    expect(person.text).toContain('{"action":"accept","content":{"name":"Ada","age":36,"colour":"red"}}');
    expect(person.text).not.toContain("\u001b[31mare");
  });

  test.each([
    ["n\r", "decline"],
    ["\u0004", "cancel"],
  ])("the answer %j is sent to the server as %s", async (typed, action) => {
    await using person = exec(asking(form));
    await person.see("Do you want to answer?");
    person.type(typed);
    expect(await person.exited).toBe(0);
    expect(person.text).toContain(`{"action":"${action}"}`);
  });

  test("a page is opened only if the person agrees", async () => {
    await using person = exec(asking(page));
    await person.see("https://example.com/in");
    await person.see("Open this page?");
    person.type("y\r");
    await person.see("Open the address yourself");
    expect(await person.exited).toBe(0);
    expect(person.text).toContain('{"action":"accept"}');
  });

  test("call offers the tools that server-everything has only for hosts with forms", async () => {
    const words = ["call", "every.trigger-elicitation-request"];
    await using person = atTerminal([...claudikinsCommand, ...words], where());
    await person.see("Do you want to answer?");
    person.type("n\r");
    await person.see("declined");
    expect(await person.exited).toBe(0);
  });
});

test("without a terminal, servers are told that nobody can be asked", async () => {
  const { cwd, env } = where();
  const { stdout } = await runProgram([...claudikinsCommand, "exec", "-e", asking(form)], {
    cwd,
    env: testEnvironment(env),
  });
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: -32601 } });
});
