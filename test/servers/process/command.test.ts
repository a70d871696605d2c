/** How commands are resolved on a simulated Windows, and the errors for missing commands. */
import { describe, expect, test } from "bun:test";
import { ClaudikinsError } from "../../../src/base/errors.ts";
import { resolveCommand } from "../../../src/servers/process/command.ts";
import { ProcessGroup } from "../../../src/servers/process/process-group.ts";
import { root } from "../../support/claudikins.ts";
import { runProgram } from "../../support/process.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const machine: Record<string, string> = {
  "C:\\Program Files\\nodejs\\npx.cmd": "",
  "C:\\Program Files\\nodejs\\npx": "#!/usr/bin/env bash\n",
  "C:\\Program Files\\nodejs\\node.exe": "",
  "C:\\bin\\uvx.exe": "",
  "C:\\bin\\bash.exe": "",
  "C:\\bin\\100%PATH%\\odd.bat": "",
  "C:\\Windows\\System32\\cmd.exe": "",
  "D:\\project\\npx.cmd": "",
  "D:\\project\\node_modules\\.bin\\server.cmd": "",
  "D:\\project\\script": "#!/usr/bin/env -S node --quiet\r\n",
  "D:\\project\\server.mjs": "#! /usr/local/bin/node\n",
  "D:\\project\\shell": "#!/usr/bin/env npx\n",
  "D:\\project\\text.txt": "text",
};

const surroundings = {
  env: {
    Path: '"C:\\Program Files\\nodejs";;C:\\bin;C:\\Windows\\System32',
    PATHEXT: ".COM;.EXE;.BAT;.CMD",
    ComSpec: "C:\\Windows\\System32\\cmd.exe",
  },
  cwd: "D:\\project",
  platform: "win32",
  files: { isFile: (path: string) => path in machine, beginning: (path: string) => machine[path] ?? "" },
} as const;

const started = (command: string, ...args: string[]) => {
  const { file, args: given, windowsVerbatimArguments } = resolveCommand(command, args, surroundings);
  return windowsVerbatimArguments ? `${file} ${given.join(" ")}` : [file, ...given];
};

const cmd = (line: string) => `C:\\Windows\\System32\\cmd.exe /d /e:ON /v:OFF /s /c "${line}"`;
const npx = '"C:\\Program Files\\nodejs\\npx.cmd"';

describe("a command on Windows", () => {
  test.each([
    ["a batch file on PATH, through cmd.exe", ["npx", "-y", "pkg"], cmd(`${npx} "-y" "pkg"`)],
    ["a name with its extension", ["npx.cmd"], cmd(npx)],
    ["a name that is never looked up in the working directory", ["npx"], cmd(npx)],
    ["a path in the working directory", [".\\npx", "a"], cmd('"D:\\project\\npx.cmd" "a"')],
    ["a path with slashes", ["./node_modules/.bin/server"], cmd('"D:\\project\\node_modules\\.bin\\server.cmd"')],
    ["a program without cmd.exe", ["uvx", "a & b", "%PATH%"], ["C:\\bin\\uvx.exe", "a & b", "%PATH%"]],
    ["an absolute path", ["C:/Program Files/nodejs/node", "x"], ["C:\\Program Files\\nodejs\\node.exe", "x"]],
    [
      "a call of cmd, as people write it for other agents",
      ["cmd", "/c", "npx", "-y", "pkg@latest"],
      ["C:\\Windows\\System32\\cmd.exe", "/c", "npx", "-y", "pkg@latest"],
    ],
    [
      "a script that names its interpreter",
      ["./script", "x"],
      ["C:\\Program Files\\nodejs\\node.exe", "--quiet", "D:\\project\\script", "x"],
    ],
    [
      "a script that names its interpreter by a path of another system",
      ["./server.mjs"],
      ["C:\\Program Files\\nodejs\\node.exe", "D:\\project\\server.mjs"],
    ],
    ["a script whose interpreter is a batch file", ["./shell", "x"], cmd(`${npx} "D:\\project\\shell" "x"`)],
    ["a file that is neither", ["./text.txt"], ["D:\\project\\text.txt"]],
    ["a missing command", ["no-such", "x"], ["no-such", "x"]],
  ] as [string, [string, ...string[]], string | string[]][])("runs %s", (_, asked, expected) => {
    expect(started(...asked)).toEqual(expected);
  });

  test.each([
    ["a b", '"a b"'],
    ["", '""'],
    ["a&calc", '"a&calc"'],
    ["a|b>c<d^e(f)", '"a|b>c<d^e(f)"'],
    ["%PATH%", '"%%cd:~,%PATH%%cd:~,%"'],
    ["!PATH!", '"!PATH!"'],
    ['"&calc&"', '"""&calc&"""'],
    ['\\"&calc', '"\\\\""&calc"'],
    ["C:\\dir\\", '"C:\\dir\\\\"'],
    ["C:\\a\\b", '"C:\\a\\b"'],
    ['{"a":"b & c"}', '"{""a"":""b & c""}"'],
  ])("passes the argument unchanged to a batch file: %s", (argument, expected) => {
    const line = started("npx", argument);
    expect(line).toBe(cmd(`${npx} ${expected}`));
    // cmd.exe would interpret anything outside quotes.
    expect(expected.replace(/"[^"]*"/g, "")).toBe("");
  });

  test("can be in a folder with any name", () => {
    expect(started("C:\\bin\\100%PATH%\\odd")).toBe(cmd('"C:\\bin\\100%%cd:~,%PATH%%cd:~,%\\odd.bat"'));
  });

  test.each(["a\nb", "a\rb", "a\0b"])("is refused if an argument contains a newline: %j", (argument) => {
    expect(() => started("npx", "-y", argument)).toThrow(
      "argument 2 has a line break, which batch files cannot accept",
    );
    expect(started("uvx", argument)).toEqual(["C:\\bin\\uvx.exe", argument]);
  });

  test("uses the default PATHEXT and ComSpec, and ignores the case of variable names", () => {
    const { env: _, ...rest } = surroundings;
    const env = { PATH: "C:\\Program Files\\nodejs", SystemRoot: "C:\\Windows" };
    expect(resolveCommand("npx", [], { ...rest, env }).file).toBe("C:\\Windows\\System32\\cmd.exe");
    expect(resolveCommand("npx", [], { ...rest, env: {} })).toEqual({
      file: "npx",
      args: [],
      windowsVerbatimArguments: false,
    });
  });

  test("is resolved by the module that starts processes, with an error if it is missing", async () => {
    using folder = temporaryFolder();
    const program = folder.write(
      "windows.ts",
      `Object.defineProperty(process, "platform", { value: "win32" });
const { ProcessGroup } = await import(${JSON.stringify(`${root}/src/servers/process/process-group.ts`)});
try {
  new ProcessGroup({ command: "npx", args: [], cwd: ${JSON.stringify(folder.path)}, env: { PATH: "C:\\\\nowhere" } });
} catch (error) {
  console.log(error.message + "\\n" + error.hint);
}`,
    );
    const { exitCode, stdout, stderr } = await runProgram([process.execPath, program], { env: { PATH: "/nowhere" } });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatchInlineSnapshot(`
      "command not found: npx
      Install Node.js (https://nodejs.org). If it is installed but not on the PATH of claudikins, set "command" to the output of "where npx".
      "
    `);
  });
});

describe("a command on other systems", () => {
  test("stays as it is", () => {
    expect(resolveCommand("npx", ["%A%"], { env: {}, cwd: "/", platform: "linux" })).toEqual({
      file: "npx",
      args: ["%A%"],
      windowsVerbatimArguments: false,
    });
  });

  test("is named if it is missing, with its download page", () => {
    using folder = temporaryFolder();
    folder.write("script", "#!/no/such/interpreter\n");
    Bun.spawnSync(["chmod", "+x", `${folder.path}/script`]);
    const say = (command: string) => {
      try {
        new ProcessGroup({ command, args: [], cwd: folder.path, env: { PATH: folder.path } });
      } catch (error) {
        if (error instanceof ClaudikinsError) return `${error.code}: ${error.message}\n  ${error.hint}`;
      }
      return `${command} was started`;
    };
    const commands = ["npx", "uvx", "docker", "my-server", "./my-server", "npx -y pkg", "cmd", "./script"];
    expect(commands.map(say).join("\n")).toMatchInlineSnapshot(`
      "SERVER_UNAVAILABLE: command not found: npx
        Install Node.js (https://nodejs.org). If it is installed but not on the PATH of claudikins, set "command" to the output of "which npx".
      SERVER_UNAVAILABLE: command not found: uvx
        Install uv (https://docs.astral.sh/uv). If it is installed but not on the PATH of claudikins, set "command" to the output of "which uvx".
      SERVER_UNAVAILABLE: command not found: docker
        Install Docker (https://docs.docker.com/get-docker). If it is installed but not on the PATH of claudikins, set "command" to the output of "which docker".
      SERVER_UNAVAILABLE: command not found: my-server
        Install my-server. If it is installed but not on the PATH of claudikins, set "command" to the output of "which my-server".
      SERVER_UNAVAILABLE: command not found: ./my-server
        Correct "command" in the config: there is no such file.
      SERVER_UNAVAILABLE: command not found: npx -y pkg
        Put only the program in "command", and its arguments in "args".
      SERVER_UNAVAILABLE: command not found: cmd
        This works on Windows only: remove "cmd" and "/c", and use what follows as "command".
      SERVER_UNAVAILABLE: the interpreter named in the first line of ./script does not exist
        Install it, or correct that line."
    `);
  });
});
