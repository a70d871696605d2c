/** Commands at a real terminal follow the variables that people set for colours. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { claudikinsCommand } from "../support/command.ts";
import { ownFolder } from "../support/own-folder.ts";
import { testEnvironment } from "../support/process.ts";
import { atTerminal } from "../support/terminal.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ isShared: true });

const home = () => ({ HOME: folder.path, XDG_CONFIG_HOME: "", XDG_DATA_HOME: "" });

const start = (argv: string[], env: Record<string, string>) =>
  atTerminal([...claudikinsCommand, ...argv], { cwd: folder.path, env: { ...home(), ...env } });

/** Every escape sequence in the output. */
async function controls(argv: string[], env: Record<string, string>): Promise<string[]> {
  await using person = start(argv, env);
  await person.see("\n");
  await person.exited;
  const [, ...parts] = person.text.split("\u001b");
  return [...new Set(parts.map((part) => `\u001b${/^\[[0-9;?]*[A-Za-z]/.exec(part)?.[0]}`))];
}

/** Erases a line of progress: not a colour. */
const erase = "\u001b[2K";

/** Ends any colour. */
const plain = "\u001b[0m";

describe.skipIf(process.platform === "win32").each<[string[], { progress?: boolean; coloured?: boolean }]>([
  [["list", "--check"], { progress: true, coloured: false }],
  [["exec", "--verbose", "-e", "await demo.get_order({ order_id: 'x' })"], {}],
  [["call", "demo.get_order", "order_id=x", "--wire"], {}],
  [["search", "refund an order"], {}],
  [["logs", "demo"], {}],
  [["doctor"], { progress: true }],
  [["stats"], {}],
  [["nope"], {}],
  [["exec", "--help"], {}],
])("%p", (argv, { progress = false, coloured = true }) => {
  test("prints no colours with NO_COLOR, but still shows progress", async () => {
    const left = await controls(argv, { NO_COLOR: "1" });
    expect(left.filter((each) => each !== erase)).toEqual([]);
    if (progress) expect(left).toEqual([erase]);
  });

  test("prints plain text at a dumb terminal", async () => {
    expect(await controls(argv, { NO_COLOR: "", TERM: "dumb" })).toEqual([]);
  });

  test.skipIf(!coloured)("prints colours at other terminals, and in pipes with FORCE_COLOR", async () => {
    await using person = start(argv, { NO_COLOR: "" });
    await person.see(plain);
    await person.exited;
    const env = testEnvironment({ ...home(), NO_COLOR: "", FORCE_COLOR: "1" });
    const child = Bun.spawn([...claudikinsCommand, ...argv], { cwd: folder.path, env, stdout: "pipe", stderr: "pipe" });
    const text = (await Promise.all([child.stdout.text(), child.stderr.text()])).join("");
    expect(text).toContain(plain);
    expect(text).not.toContain(erase);
  });
});
