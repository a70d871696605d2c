/** Ctrl-C at a real terminal: the first one ends what runs and leaves nothing behind, the second does not wait. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { processesLeft, processesWith } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { atTerminal } from "../support/terminal.ts";

// Real servers start slowly on a small machine.
setDefaultTimeout(60_000);

const ctrlC = "\u0003";

const start = (folder: TemporaryFolder, argv: string[]) =>
  atTerminal([...claudikinsCommand, ...argv], {
    cwd: folder.path,
    env: { HOME: folder.path, XDG_CONFIG_HOME: "", XDG_DATA_HOME: "" },
  });

/** Waits until the server runs. Its command line contains the folder; `but` excludes the command's own processes. */
async function running(folder: TemporaryFolder, name: string, but = "\0"): Promise<void> {
  const found = () =>
    processesWith(folder.path).filter((pid) => {
      const line = commandLine(pid);
      return line.includes(name) && !line.includes(but);
    });
  await eventually(() => found().length > 0);
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return Bun.spawnSync(["ps", "-o", "args=", "-p", String(pid)]).stdout.toString();
  }
}

describe.skipIf(process.platform === "win32")("the first Ctrl-C ends", () => {
  test.each<[string, string[]]>([
    ["exec during a call that never ends", ["exec", "-e", "return await hangs.anything({})"]],
    ["call", ["call", "hangs.anything"]],
    ["gen", ["gen"]],
    ["gen --check", ["gen", "--check"]],
    ["list --check", ["list", "--check"]],
    ["list tools", ["list", "tools"]],
    ["list tools of one server", ["list", "tools", "hangs"]],
    ["doctor", ["doctor"]],
    ["setup", ["setup", "--yes"]],
    ["init", ["init", "--config", "other.json", "--apply"]],
  ])("%s", async (_, argv) => {
    using folder = temporaryFolder();
    const hangs = fixture("never-starts", folder.path);
    // Longer than the time limit of a test: a test that waits for its end fails.
    folder.write("claudikins.json", { mcpServers: { hangs: { ...hangs, startTimeoutMs: 300_000 } } });
    const hostFile = folder.write(".cursor/mcp.json", { mcpServers: { hangs } });
    const before = readFileSync(hostFile, "utf8");
    await using person = start(folder, argv);
    await running(folder, "never-starts");
    person.type(ctrlC);
    expect(await person.exited).toBe(130);
    expect(await processesLeft(folder.path)).toEqual([]);
    expect(readFileSync(hostFile, "utf8")).toBe(before);
    expect(existsSync(join(folder.path, "other.json"))).toBe(false);
  });

  test("add, and the config is unchanged", async () => {
    using folder = temporaryFolder();
    const file = folder.write("claudikins.json", { mcpServers: {} });
    const before = readFileSync(file, "utf8");
    const { command, args } = fixture("never-starts", folder.path);
    await using person = start(folder, ["add", "hangs", "--", command, ...args]);
    await running(folder, "never-starts", "add hangs");
    person.type(ctrlC);
    expect(await person.exited).toBe(130);
    expect(await processesLeft(folder.path)).toEqual([]);
    expect(readFileSync(file, "utf8")).toBe(before);
  });
});

describe.skipIf(process.platform === "win32")(
  "an interrupted command calls no server broken that it has not heard of",
  () => {
    test.each<[string, string[], RegExp]>([
      ["doctor", ["doctor"], /warning +Not checked, because the command was interrupted: hangs, waits\r?\n/],
      ["list --check", ["list", "--check"], /error: Interrupted before 2 of 3 servers had answered: hangs, waits\r?\n/],
      ["gen --check", ["gen", "--check"], /error: Interrupted before 2 of 3 servers had answered: hangs, waits\r?\n/],
      ["gen", ["gen"], /Interrupted: the tools of the other servers were written/],
      ["list tools", ["list", "tools"], /error: Interrupted before the servers had answered/],
    ])("%s", async (_, argv, says) => {
      using folder = temporaryFolder();
      const hangs = { ...fixture("never-starts", folder.path), startTimeoutMs: 300_000 };
      folder.write("claudikins.json", { mcpServers: { fine: fixture("chatty", folder.path), hangs, waits: hangs } });
      await using person = start(folder, argv);
      if (argv[0] === "list" && argv[1] === "tools") await running(folder, "never-starts");
      else await person.see("1/3 servers fine");
      person.type(ctrlC);
      expect(await person.exited).toBe(130);
      const shown = Bun.stripANSI(person.text);
      expect(shown).toMatch(says);
      expect(shown).not.toMatch(
        /problem +|broken|CANCELLED|SERVER_UNAVAILABLE|was cancelled|out of date|servers failed/,
      );
    });
  },
);

test.skipIf(process.platform === "win32")(
  "the second Ctrl-C kills a process that refuses to end, without waiting",
  async () => {
    using folder = temporaryFolder();
    const hangs = fixture("never-starts", folder.path);
    folder.write("claudikins.json", { mcpServers: { stubborn: fixture("stubborn", folder.path), hangs } });
    await using person = start(folder, ["list", "--check"]);
    await person.see("1/2 servers stubborn");
    await running(folder, "never-starts");
    person.type(ctrlC);
    // The results so far are printed; then the stubborn server gets its grace period.
    await person.see("Interrupted before 1 of 2 servers had answered: hangs");
    person.type(ctrlC);
    expect(await person.exited).toBe(130);
    // The watchdog would wait for a second.
    expect(await processesLeft(folder.path, 900)).toEqual([]);
  },
);
