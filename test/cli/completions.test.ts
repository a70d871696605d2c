/** Tab completion in real shells: what the completed command receives, and that nothing that is typed or configured is run. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { claudikinsCommand } from "../support/command.ts";
import { runProgram, shellLine } from "../support/process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { type AtTerminal, atTerminal } from "../support/terminal.ts";
import { cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

/** Starts each shell as a person does, with only our script loaded. */
const interactive: Record<Shell, (folder: string) => string[]> = {
  bash: (folder) => ["bash", "--norc", "--noprofile", "-i", "-c", `exec bash --rcfile ${folder}/rc.bash -i`],
  zsh: () => ["zsh", "-i"],
  fish: () => ["fish", "-i"],
};

/** The bash of macOS is too old to leave out the space after a completion. */
const isHere = (shell: Shell) =>
  process.platform !== "win32" &&
  Bun.which(shell) !== null &&
  (shell !== "bash" || Bun.spawnSync(["bash", "-c", "type compopt"]).success);
for (const shell of shells) {
  if (!isHere(shell)) console.log(`${shell} is not installed, or too old: its completions are not tested`);
}

/** Ctrl-U twice: the first may only close a list. */
const takeBack = "\u0015\u0015";

const odd = {
  "my server": { command: "x" },
  "$(touch pwned)": { command: "x" },
  "`touch pwned`;touch pwned": { command: "x" },
  "co:lon": { command: "x", description: "with a: colon and a \\ and a $(touch pwned)" },
  "it's": { command: "x" },
  "back\\slash": { command: "x" },
  "two\nlines": { command: "x" },
};

const tools = [
  {
    name: "list.orders",
    description: "List orders. More words.",
    inputSchema: {
      type: "object",
      properties: {
        status: { $ref: "#/$defs/status", description: "Which ones. And more." },
        archived: { type: "boolean" },
        "ship to": { type: "string" },
      },
      $defs: { status: { enum: ["paid", "open"] } },
    },
  },
  { name: "list:all", description: "$(touch pwned)", inputSchema: { type: "object" } },
];

let folder: TemporaryFolder;
beforeAll(async () => {
  folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: { ...odd, shop: { command: "x" } } });
  folder.write("a file.ts", "1");
  folder.write("sub folder/x", "");
  const server = {
    name: "shop",
    category: "business",
    description: "",
    folder: "business/shop",
    fingerprint: "",
    tools,
  };
  folder.write(".claudikins/registry/index.json", { version: 1, servers: [server] });
  // Prints its arguments, except while it answers a completion.
  const real = shellLine(claudikinsCommand);
  const program = folder.write(
    "bin/claudikins",
    `#!/bin/sh\n[ "$1" = complete ] && exec ${real} "$@"\nfor word; do printf '<%s>' "$word"; done; echo .\n`,
  );
  Bun.spawnSync(["chmod", "+x", program]);
  for (const shell of shells) folder.write(`completions.${shell}`, (await cli(["completions", shell])).stdout);
  folder.write("rc.bash", "PS1='ready> '\nsource completions.bash\n");
  // By default, Tab replaces $(…) by its result before any completion runs.
  folder.write(".zshrc", "PS1='ready> '\nbindkey '^I' complete-word\nsource ./completions.zsh\n");
  folder.write(
    ".config/fish/completions/claudikins.fish",
    await Bun.file(join(folder.path, "completions.fish")).text(),
  );
  folder.write(".config/fish/config.fish", "function fish_prompt; echo 'ready> '; end; set -g fish_greeting\n");
});
afterAll(() => folder[Symbol.dispose]());

function environment(): Record<string, string> {
  const { path } = folder;
  return {
    PATH: `${path}/bin:${process.env["PATH"]}`,
    HOME: path,
    XDG_CONFIG_HOME: `${path}/.config`,
    XDG_DATA_HOME: `${path}/.local/share`,
    XDG_CACHE_HOME: `${path}/.cache`,
  };
}

async function open(shell: Shell): Promise<AtTerminal> {
  const { path } = folder;
  const terminal = atTerminal(interactive[shell](path), { cwd: path, env: environment() });
  await terminal.see("ready> ");
  return terminal;
}

describe.each(shells)("%s", (shell) => {
  describe.skipIf(!isHere(shell))("at a terminal", () => {
    let terminal: AtTerminal;
    beforeAll(async () => {
      terminal = await open(shell);
    });
    afterAll(() => terminal[Symbol.asyncDispose]());

    /** The line is completed and entered, and the program prints its arguments. */
    test.each<[string, string[]]>([
      ["ex\t", ["exec"]],
      ["auth stat\t", ["auth", "status"]],
      ["help rest\t", ["help", "restore"]],
      ["nope \t", ["nope"]],
      ["exec --che\terr\t", ["exec", "--check", "error"]],
      ["exec --check=w\t", ["exec", "--check=warn"]],
      ["add filesys\t", ["add", "filesystem"]],
      // Names that the shell would take apart
      ["auth login my\t", ["auth", "login", "my server"]],
      ["auth login my\\ s\t", ["auth", "login", "my server"]],
      ['auth login "my s\t', ["auth", "login", "my server"]],
      ["auth login 'my s\t", ["auth", "login", "my server"]],
      ["auth login co\t", ["auth", "login", "co:lon"]],
      ["auth login co:l\t", ["auth", "login", "co:lon"]],
      ["gen --server=co:l\t", ["gen", "--server=co:lon"]],
      ["auth login it\t", ["auth", "login", "it's"]],
      ['auth login "it\t', ["auth", "login", "it's"]],
      ["auth login 'it\t", ["auth", "login", "it's"]],
      ["auth login back\t", ["auth", "login", "back\\slash"]],
      ["remove my\tit\t", ["remove", "my server", "it's"]],
      // Or run
      ["auth login \\$\t", ["auth", "login", "$(touch pwned)"]],
      ["auth login '$\t", ["auth", "login", "$(touch pwned)"]],
      ['auth login "\\$\t', ["auth", "login", "$(touch pwned)"]],
      ["auth login \\`\t", ["auth", "login", "`touch pwned`;touch pwned"]],
      // Tools and their arguments
      ["call shop.list.\tstat\tp\t", ["call", "shop.list.orders", "status=paid"]],
      ["call shop.list:\t", ["call", "shop.list:all"]],
      ["call shop list.orders shi\ta\\ b", ["call", "shop", "list.orders", "ship to=a b"]],
      // Completed by the shell itself
      ["exec a\\ f\t", ["exec", "a file.ts"]],
      ["exec --config a\\ f\t", ["exec", "--config", "a file.ts"]],
      ["exec --config=a\\ f\t", ["exec", "--config=a file.ts"]],
      ["gen --output su\t", ["gen", "--output", "sub folder"]],
      ["gen --output=su\t", ["gen", "--output=sub folder"]],
    ])("completes %j", async (typed, words) => {
      terminal.type(`claudikins ${typed}\r`);
      await terminal.see(".\r");
      const [, got] = [...terminal.text.matchAll(/((?:<[^<>]*>)+)\.\r/g)].at(-1) ?? [];
      // Some shells remove the slash after a folder.
      expect(got?.replace("/>", ">")).toBe(words.map((word) => `<${word}>`).join(""));
      expect(existsSync(join(folder.path, "pwned"))).toBe(false);
    });

    test("lists all candidates with their descriptions", async () => {
      terminal.type("claudikins auth login \t\t");
      await terminal.see(shell === "bash" ? "co:lon" : "with a: colon and a \\ and a $(touch pwned)");
      terminal.type(`${takeBack}claudikins here\r`);
      await terminal.see("<here>.");
    });

    test("does not run what is typed", async () => {
      for (const typed of ["auth login $(touch pwned) \t", 'auth login "`touch pwned`\t', "$(touch pwned) \t"]) {
        // The marker is answered after everything before it.
        terminal.type(`claudikins ${typed}\t${takeBack}claudikins here\r`);
        await terminal.see("<here>.");
        expect(existsSync(join(folder.path, "pwned"))).toBe(false);
      }
    });
  });
});

test.skipIf(!isHere("fish"))("fish lists the candidates when it is asked directly", async () => {
  const asked = async (line: string) => {
    const command = ["fish", "-c", 'source completions.fish; complete -C "$LINE"'];
    const { stdout } = await runProgram(command, { cwd: folder.path, env: { ...environment(), LINE: line } });
    return stdout.split("\n").filter((each) => each !== "");
  };
  expect(await asked("claudikins exec --check ")).toEqual(["error", "warn", "off"]);
  expect(await asked("claudikins auth l")).toEqual([
    "login\tSign in to a server in your browser",
    "logout\tSign out of a server and delete its tokens",
  ]);
  expect(await asked("NO_COLOR=1 claudikins completions z")).toEqual(["zsh"]);
  expect(await asked("claudikins exec --config=a")).toEqual(["--config=a file.ts"]);
  expect(await asked("claudikins gen --output s")).toEqual(["sub folder/"]);
});

describe.skipIf(!isHere("bash"))("bash, with the variables that readline sets", () => {
  const replies = async (words: string[], breaks = "\"'><=;|&(:") => {
    const script =
      'COMP_WORDBREAKS=$BREAKS; source completions.bash; COMP_POINT=${#COMP_LINE}; _claudikins claudikins; printf "%s\\n" "${COMPREPLY[@]}"';
    const env = { ...environment(), COMP_LINE: words.join(" ").replace(/ ([:=]) /g, "$1"), BREAKS: breaks };
    const full = `COMP_WORDS=(${shellLine(words)}); ${script}`;
    const { stdout, stderr } = await runProgram(["bash", "--norc", "-c", full], { cwd: folder.path, env });
    expect(stderr).toBe("");
    return stdout.split("\n").filter((each) => each !== "");
  };

  test("completes the part after a word break", async () => {
    expect(await replies(["claudikins", "auth", "login", "co", ":", "l"])).toEqual(["lon"]);
    expect(await replies(["claudikins", "exec", "--check", "=", "w"])).toEqual(["warn"]);
    // Some users remove the colon from it.
    expect(await replies(["claudikins", "auth", "login", "co:l"], " \t\n\"'><;|&(")).toEqual(["co:lon"]);
    expect(await replies(["claudikins", "exec", ">", "co"])).toEqual([]);
  });
});

describe("complete", () => {
  const asked = async (words: string[], cwd = folder.path) => {
    const ended = await cli(["complete", "fish", "--", ...words], { cwd });
    expect([ended.exitCode, ended.stderr]).toEqual([0, ""]);
    return ended.stdout.split("\n").filter((each) => each !== "");
  };

  test("lists commands with their descriptions, without hidden ones", async () => {
    const commands = await asked([""]);
    expect(commands).toContain("exec\tRun TypeScript that calls tools; print only what it returns");
    expect(commands.map((line) => line.split("\t")[0])).not.toContain("complete");
    expect((await asked(["daemon", ""])).map((line) => line.split("\t")[0])).not.toContain("run");
    expect(await asked(["-"])).toEqual(["--help\tShow help", "--version\tPrint the version"]);
    expect(await asked(["help", "daemon", "st"])).toEqual(await asked(["daemon", "st"]));
    expect(await asked(["help", "exec", ""])).toEqual([]);
  });

  test("lists the flags that can still be given, each once", async () => {
    const flags = async (...words: string[]) => (await asked(words)).map((line) => line.split("\t")[0]);
    expect(await flags("demo", "")).toEqual(["--verbose", "--help"]);
    expect(await flags("gen", "--clean", "--server", "--check", "--")).toEqual([
      "--server",
      "--category",
      "--output",
      "--check",
      "--trust",
      "--config",
      "--json",
      "--verbose",
      "--help",
    ]);
    expect(await flags("exec", "-e", "1", "--")).not.toContain("--eval");
    expect(await flags("exec", "-e", "")).toEqual([]);
    expect(await flags("exec", "--", "--ch")).toEqual([""]);
  });

  test("lists nothing for invalid words, or without a valid config", async () => {
    using broken = temporaryFolder();
    broken.write("claudikins.json", "{");
    expect(await asked(["auth", "login", ""], broken.path)).toEqual([]);
    expect(await asked(["constructor", ""])).toEqual([]);
    expect(await asked(["__proto__", ""])).toEqual([]);
    expect(await asked(["exec", "--constructor", ""])).toEqual(["\tfiles"]);
    expect(await asked(["exec", "--bogus=", ""])).toEqual(["\tfiles"]);
    expect(await asked(["gen", "--nope=x"])).toEqual([]);
    expect(await asked([])).toEqual(await asked([""]));
    using empty = temporaryFolder();
    expect(await asked(["auth", "login", ""], empty.path)).toEqual([
      "demo\tthe made-up back office of a small shop: orders, customers, stock, tickets",
    ]);
    expect(await asked(["gen", "--config", "nope.json", "--server", ""])).toEqual([]);
  });

  test("lists no secrets, and removes control characters", async () => {
    using other = temporaryFolder();
    const description = "red \u001b[31m\u0007\u202e text\nand more";
    other.write("claudikins.json", { mcpServers: { a: { command: "x", description } } });
    expect(await asked(["gen", "--server", ""], other.path)).toEqual(["a\tred [31m text and more"]);
    const { stdout } = await cli(["complete", "fish", "--", "add", "x", "--env", ""], { env: { MY_TOKEN: "hidden" } });
    expect(stdout).toContain("MY_TOKEN\n");
    expect(stdout).not.toContain("hidden");
  });
});

describe("completion of tools and their arguments", () => {
  const values = async (...words: string[]) => {
    const { stdout } = await cli(["complete", "zsh", "--", "call", ...words], { cwd: folder.path });
    return stdout.split("\n").filter((each) => each !== "");
  };

  test("lists the tools of the registry, their arguments and their values", async () => {
    expect(await values("sh")).toEqual(["shop.list.orders\tList orders.", "shop.list:all\t$(touch pwned)"]);
    expect(await values("shop.list.orders", "")).toEqual(["status=\tWhich ones.", "archived=", "ship to=", "\topen"]);
    expect(await values("shop.list.orders", "status=")).toContain("status=paid");
    expect(await values("shop.list.orders", "archived=t")).toContain("archived=true");
    expect(await values("shop.list.orders", "status=open", "archived:=true", "")).toEqual(["ship to=", "\topen"]);
    expect(await values("shop.list:all", "")).toEqual([]);
    expect(await values("shop.nope", "")).toEqual([]);
  });

  test("accepts the server as a separate word", async () => {
    expect(await values("shop", "")).toEqual(["list.orders\tList orders.", "list:all\t$(touch pwned)"]);
    expect(await values("shop", "list.orders", "--json", "status=")).toContain("status=open");
  });

  test("lists servers first if there are very many tools", async () => {
    using other = temporaryFolder();
    const many = Array.from({ length: 300 }, (_, place) => ({
      name: `tool_${place}`,
      description: "",
      inputSchema: {},
    }));
    const server = {
      name: "many",
      category: "a",
      description: "A lot",
      folder: "a/many",
      fingerprint: "",
      tools: many,
    };
    other.write("claudikins.json", { mcpServers: { many: { command: "x" } } });
    other.write(".claudikins/registry/index.json", { version: 1, servers: [server] });
    const asked = async (word: string) =>
      (await cli(["complete", "zsh", "--", "call", word], { cwd: other.path })).stdout;
    expect(await asked("m")).toBe("many.\tA lot\n\topen\n");
    expect((await asked("many.")).split("\n")).toHaveLength(301);
  });

  test("leaves out denied tools", async () => {
    using other = temporaryFolder();
    other.write("claudikins.json", { mcpServers: { shop: { command: "x", deny: ["list:*"] } } });
    const server = { name: "shop", category: "a", description: "", folder: "a/shop", fingerprint: "", tools };
    other.write(".claudikins/registry/index.json", { version: 1, servers: [server] });
    const { stdout } = await cli(["complete", "zsh", "--", "call", ""], { cwd: other.path });
    expect(stdout).toBe("shop.list.orders\tList orders.\n");
  });
});
