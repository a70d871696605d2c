/** The help of the command line, and the refusal of everything that is not a command. Nothing is started here. */
import { describe, expect, test } from "bun:test";
import { version } from "../../src/base/version.ts";
import { count, duration } from "../../src/cli/flags/flags.ts";
import { ownFolder } from "../support/own-folder.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { cli, page } from "./in-memory.ts";

const folder = ownFolder({ isShared: true });

/** The error and the hint of a refusal, which prints nothing on stdout. */
async function refusal(...argv: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await cli(argv, { cwd: folder.path });
  expect([argv, exitCode, stdout]).toEqual([argv, 2, ""]);
  return stderr.replaceAll(folder.path, "FOLDER");
}

describe("help", () => {
  test("shows ten commands, and how to find what people look for", async () => {
    expect(page(["--help"], await cli(["--help"])).replaceAll(version, "VERSION")).toMatchInlineSnapshot(`
      "$ claudikins --help
      --- stdout
      claudikins VERSION: all your MCP servers behind two small tools.

      Usage: claudikins <command> [options]

      Commands:
        init         Import your agents' MCP servers and put claudikins in their place
        restore      Undo init: give your agents their original settings back
        add          Add a server: by name, a command, a URL or a pasted entry
        list         List servers and their state, or the tools of one
        search       Find tools by what they do
        exec         Run TypeScript that calls tools; print only what it returns
        call         Call one tool: server.tool name=value
        programs     Save code under a name, and run it by hand or on a schedule
        ui           Open a local page: what runs, what waits for you, servers, rules
        doctor       Check the whole setup and suggest fixes

      How to:
        Undo init                         claudikins restore
        See why a call waits, and decide  claudikins approvals
        See what runs, hangs or has run   claudikins executions
        See who called what               claudikins calls
        Forbid a tool                     claudikins disable
        Be asked before a tool is called  claudikins confirm
        Repair the entry of a server      claudikins config server
        Rename a tool for agents          claudikins edit
        Give one agent fewer servers      claudikins doors
        Remove everything                 claudikins uninstall

      Without a config file, claudikins uses its built-in demo server. Try:
        claudikins exec -e 'return (await demo.list_orders({ status: "paid" })).total'
      All commands: claudikins --help --all
      Help for a command: claudikins <command> --help
      With --json, errors on stderr are {"error":{"code","message","hint"?}}
      Documentation: https://github.com/claudikins/claudikins/tree/main/docs
      --- exit code 0
      "
    `);
  });

  test("says how to undo, why a call waits, how one agent gets fewer servers, and how to remove everything", async () => {
    const { stdout } = await cli(["--help"]);
    for (const [words, name] of [
      ["Undo", "restore"],
      ["why a call waits", "approvals"],
      ["one agent fewer servers", "doors"],
      ["Remove everything", "uninstall"],
    ]) {
      expect(stdout).toMatch(new RegExp(`${words}.*  claudikins ${name}\n`));
    }
  });

  test("shows all commands by section with --all, each once, and no former name", async () => {
    const { stdout } = await cli(["--help", "--all"]);
    expect(stdout.replaceAll(version, "VERSION")).toMatchInlineSnapshot(`
      "claudikins VERSION: all your MCP servers behind two small tools.

      Usage: claudikins <command> [options]

      Set up:
        init         Import your agents' MCP servers and put claudikins in their place
        restore      Undo init: give your agents their original settings back
        add          Add a server: by name, a command, a URL or a pasted entry
        remove       Remove servers and their generated files
        disable      Turn off servers or single tools without removing them
        enable       Turn servers or single tools back on
        config       Find or edit the config file in use (path, edit, server)
        auth         Sign in to remote servers (login, logout, status)
        secrets      Secrets for servers, in the keychain (list, set, remove, encrypt)
        gen          Fetch the tools of all servers again, and write them as files
        upgrade      Replace this executable with the newest release
        uninstall    Remove claudikins: undo init, stop the daemons, remove its
                     folders
        completions  Print a completion script for bash, zsh or fish
        demo         Run the built-in demo server: the back office of a small shop

      Use tools:
        list         List servers and their state, or the tools of one
        search       Find tools by what they do
        call         Call one tool: server.tool name=value
        exec         Run TypeScript that calls tools; print only what it returns
        run          Run a task given in words; a small model picks and calls a tool
        programs     Save code under a name, and run it by hand or on a schedule
        mock         Play a recorded server, for tests without it

      See what happens:
        ui           Open a local page: what runs, what waits for you, servers, rules
        executions   What was run, what runs and what waits (list, show, cancel, …)
        calls        Show who called what (list, figures, export)
        stats        Show what was called and how many tokens it saved
        logs         Show what a server wrote to stderr and how it ended
        doctor       Check the whole setup and suggest fixes
        daemon       Manage the process that keeps servers running between calls

      Decide what may be called:
        approvals    Approve or deny calls that wait (list, show, approve, deny)
        confirm      Say when you are asked before a tool is called
        doors        Give an agent fewer servers or tools (list, show, add, remove)
        trust        Read this project's config, and let it start its servers
        review       Read and accept tools that their server has changed
        label        Say what the data of a tool is: untrusted, private or public
        edit         Change the name, the description or the arguments of a tool
        audit        Show and check the log of decisions (list, verify, export, cut)

      For agents:
        serve        Run the MCP server that agents connect to
        tokens       Tokens for serve --http (list, add, revoke)
        people       People who sign in (list, revoke, restore, delete)
        skill        Teach your agents to use claudikins (install, remove, …)

      Help for a command: claudikins <command> --help
      "
    `);
    expect(stdout).not.toMatch(/^ {2}(?:trace|hooks|setup) /m);
    expect((await cli(["help", "--all"])).stdout).toBe(stdout);
  });

  test("for review and for trust says how they differ", async () => {
    const [review, trust] = await Promise.all(["review", "trust"].map((name) => cli([name, "--help"])));
    expect(review?.stdout.replace(/\s+/g, " ")).toContain("For what a project's config may start: claudikins trust.");
    expect(trust?.stdout.replace(/\s+/g, " ")).toContain("For tools that their server has changed: claudikins review.");
  });

  test("is printed by -h and help too, and without a command as an error", async () => {
    const { stdout } = await cli(["--help"]);
    for (const argv of [["-h"], ["help"], ["help", "--help"]]) {
      expect([argv, await cli(argv)]).toEqual([argv, { exitCode: 0, stdout, stderr: "" }]);
    }
    // No command at all is an error: the same text on stderr.
    expect(await cli([])).toEqual({ exitCode: 2, stdout: "", stderr: stdout });
    expect(await refusal("help", "exce")).toBe("error: Unknown command exce\n\nhint: Did you mean exec?\n");
  });

  test("works with an invalid config", async () => {
    using broken = temporaryFolder();
    broken.write("claudikins.json", "{");
    for (const command of ["exec", "search", "list", "gen", "serve"]) {
      expect(await cli([command, "--help"], { cwd: broken.path })).toMatchObject({ exitCode: 0, stderr: "" });
    }
  });
});

test("--version, -v and version print the version", async () => {
  for (const argv of [["--version"], ["-v"], ["version"]]) {
    expect([argv, await cli(argv)]).toEqual([argv, { exitCode: 0, stdout: `${version}\n`, stderr: "" }]);
  }
  expect(version).toMatch(/^\d+\.\d+\.\d+/);
});

describe("a refusal", () => {
  test("suggests similar commands", async () => {
    expect(await refusal("nope")).toBe("error: Unknown command nope\n\nhint: All commands: claudikins --help\n");
    expect(await refusal("serach", "x")).toBe("error: Unknown command serach\n\nhint: Did you mean search?\n");
    // Commands of a group, and words that people write before a command.
    const meant = async (...argv: string[]) => (await refusal(...argv)).split("hint: ")[1];
    expect(await meant("login")).toBe("Did you mean auth login?\n");
    expect(await meant("logn")).toBe("Did you mean auth login or logs?\n");
    expect(await meant("lsit")).toBe("Did you mean list?\n");
    // Words of package managers and agents.
    expect(await meant("import")).toBe("Did you mean init?\n");
    expect(await meant("update")).toBe("Did you mean upgrade?\n");
    expect(await meant("doors", "rm")).toBe("Did you mean remove?\n");
    expect(await meant("auth", "logn")).toBe("Did you mean login?\n");
    expect(await meant("help", "daemon", "stpo")).toBe("Did you mean stop?\n");
    // Hidden commands are not suggested.
    expect(await meant("complet")).toBe("Did you mean completions?\n");
    expect(await meant("daemon", "runn")).toBe("All commands: claudikins daemon --help\n");
    expect(await meant("--config", "x", "list")).toBe("Flags come after the command: claudikins list --config\n");
    expect(await refusal("--bogus")).toBe("error: Unknown flag --bogus\n\nhint: All commands: claudikins --help\n");
    expect(await refusal("constructor")).toStartWith("error: Unknown command constructor\n");
    expect(await refusal("__proto__")).toStartWith("error: Unknown command __proto__\n");
  });

  test.each<{ argv: string[]; message: string; advice?: string }>([
    // Unknown
    { argv: ["exec", "--jsn", "-e", "1"], message: "Unknown flag --jsn", advice: "Did you mean --json?" },
    { argv: ["exec", "--no-json", "-e", "1"], message: "Unknown flag --no-json", advice: "Did you mean --json?" },
    { argv: ["exec", "-x", "1"], message: "Unknown flag -x" },
    { argv: ["search", "x", "--lmit", "3"], message: "Unknown flag --lmit", advice: "Did you mean --limit?" },
    { argv: ["demo", "--config", "x"], message: "Unknown flag --config" },
    // Missing values, and values that do not belong
    { argv: ["exec", "-e"], message: "-e needs a value" },
    { argv: ["exec", "--eval"], message: "--eval needs a value" },
    { argv: ["exec", "-e", ""], message: "-e needs a value" },
    { argv: ["exec", "--config=", "-e", "1"], message: "--config needs a value" },
    { argv: ["exec", "a.ts", "--json=true"], message: "--json takes no value" },
    { argv: ["exec", "-e", "1", "--eval", "2"], message: "--eval is given twice" },
    { argv: ["gen", "--config", "a", "--config", "a"], message: "--config is given twice" },
    // Words
    { argv: ["search"], message: "Missing argument: query" },
    { argv: ["gen", "extra"], message: 'Unexpected argument "extra"' },
    { argv: ["gen", "--", "--json"], message: 'Unexpected argument "--json"' },
    {
      argv: ["exec", "a.ts", "b.ts"],
      message: 'Unexpected argument "b.ts"',
      advice: "Quote arguments that contain spaces.",
    },
  ])("explains $argv", async ({ argv, message, advice }) => {
    const hint = [advice, `For all flags and arguments: claudikins ${argv[0]} --help`].filter(Boolean).join(" ");
    expect(await refusal(...argv)).toBe(`error: ${message}\n\nhint: ${hint}\n`);
  });

  test("says how to write a value that looks like a flag", async () => {
    expect(await refusal("exec", "--config", "--eval", "1")).toBe(
      "error: --config needs a value, and --eval looks like a flag\n\nhint: If that is the value, write --config=--eval\n",
    );
  });

  test("explains wrong values of each command", async () => {
    const calls = [
      ["exec"],
      ["exec", "x.ts", "-e", "1"],
      ["exec", "-", "--eval", "1"],
      ["exec", "nope.ts"],
      ["exec", "."],
      ["exec", "-e", "1", "--timeout", "soon"],
      ["exec", "-e", "1", "--timeout", "11m"],
      ["exec", "-e", "1", "--config", "nope.json"],
      ["search", ""],
      ["search", "x", "--limit", "0"],
      ["search", "x", "--limit", "many"],
    ];
    const texts: string[] = [];
    for (const argv of calls) texts.push(`$ claudikins ${argv.join(" ")}\n${await refusal(...argv)}`);
    expect(texts.join("\n")).toMatchInlineSnapshot(`
      "$ claudikins exec
      error: No code to run

      hint: Give a file, --eval 'code', or - to read standard input. For all options: claudikins exec --help

      $ claudikins exec x.ts -e 1
      error: Give a file or --eval, not both

      $ claudikins exec - --eval 1
      error: Give a file or --eval, not both

      $ claudikins exec nope.ts
      error: Cannot read nope.ts: the file does not exist
        caused by: ENOENT: no such file or directory, open 'FOLDER/nope.ts'

      $ claudikins exec .
      error: Cannot read .: EISDIR: illegal operation on a directory, read

      $ claudikins exec -e 1 --timeout soon
      error: --timeout takes a time like 5000, 5s or 2m, at most 10m; got "soon"

      $ claudikins exec -e 1 --timeout 11m
      error: --timeout takes a time like 5000, 5s or 2m, at most 10m; got "11m"

      $ claudikins exec -e 1 --config nope.json
      error: No config file at FOLDER/nope.json

      hint: Create the file, or remove --config.

      $ claudikins search 
      error: The query is empty

      $ claudikins search x --limit 0
      error: --limit takes a whole number from 1 to 100; got "0"

      $ claudikins search x --limit many
      error: --limit takes a whole number from 1 to 100; got "many"
      "
    `);
  });

  test("is one line of JSON on stderr with --json", async () => {
    for (const argv of [
      ["nope", "--json"],
      ["exec", "--json", "-e"],
      ["exec", "--json"],
      ["search", "--json", "x", "--limit", "0"],
    ]) {
      const text = await refusal(...argv);
      expect(text).toEndWith("}\n");
      expect(text.trimEnd()).not.toContain("\n");
      expect(JSON.parse(text)).toEqual({
        error: {
          code: "USAGE",
          message: expect.any(String),
          ...(argv[0] === "search" ? {} : { hint: expect.any(String) }),
        },
      });
    }
    // After -- it is a word like any other.
    expect(await refusal("exec", "--", "a", "--json")).toStartWith("error: ");
  });

  test("has colours at a terminal, except with NO_COLOR, FORCE_COLOR=0 or TERM=dumb", async () => {
    const watched = (env: Record<string, string> = {}) => cli(["nope"], { terminal: true, env });
    expect((await watched()).stderr).toBe(
      "\u001b[31merror\u001b[0m: Unknown command nope\n\n\u001b[36mhint\u001b[0m: All commands: claudikins --help\n",
    );
    expect((await watched({ NO_COLOR: "1" })).stderr).toBe((await cli(["nope"])).stderr);
    expect((await watched({ NO_COLOR: "" })).stderr).toContain("\u001b[31m");
    expect((await watched({ TERM: "dumb" })).stderr).toBe((await cli(["nope"])).stderr);
    expect((await watched({ FORCE_COLOR: "0" })).stderr).toBe((await cli(["nope"])).stderr);
    // FORCE_COLOR adds colours in a pipe; NO_COLOR takes precedence.
    expect(await cli(["nope"], { env: { FORCE_COLOR: "1", TERM: "dumb" } })).toEqual(await watched());
    expect(await cli(["nope"], { env: { FORCE_COLOR: "1", NO_COLOR: "1" } })).toEqual(await cli(["nope"]));
    const help = await cli(["exec", "--help"], { terminal: true, env: { NO_COLOR: "yes" } });
    for (const argv of [["--help"], ["exec", "--help"], ["auth", "--help"], []]) {
      const coloured = await cli(argv, { terminal: true });
      const plain = await cli(argv);
      expect(coloured.stdout + coloured.stderr).toContain("\u001b[36m");
      expect(Bun.stripANSI(coloured.stdout + coloured.stderr)).toBe(plain.stdout + plain.stderr);
    }
    expect(help.stdout).toBe((await cli(["exec", "--help"])).stdout);
  });
});

describe("values of flags", () => {
  test.each([
    ["1", 1],
    ["5000", 5_000],
    ["5000ms", 5_000],
    ["5s", 5_000],
    ["0.5s", 500],
    ["1.5m", 90_000],
    ["10m", 600_000],
  ])("%s is a time", (text, ms) => {
    expect(duration(600_000)(text, "--timeout")).toBe(ms);
  });

  test.each(["0", "0.1ms", "-5", "5 s", "5h", "s", "", "1e3", "0x10", "601s", "NaN", "Infinity", "5s5"])(
    "%j is not a time",
    (text) => {
      expect(() => duration(600_000)(text, "--timeout")).toThrow(
        `--timeout takes a time like 5000, 5s or 2m, at most 10m; got "${text}"`,
      );
    },
  );

  test("1 and 100 are counts", () => {
    expect(["1", "100"].map((text) => count(100)(text, "--limit"))).toEqual([1, 100]);
  });

  test.each(["0", "101", "-1", "1.5", "", " ", "x", "1e1", "0x10", "Infinity"])("%j is not a count", (text) => {
    expect(() => count(100)(text, "--limit")).toThrow(`--limit takes a whole number from 1 to 100; got "${text}"`);
  });
});
