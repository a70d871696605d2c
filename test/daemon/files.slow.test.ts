/** Generated files as programs and modules, with Bun and with a Node that strips types. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../src/base/version.ts";
import { root } from "../support/claudikins.ts";
import { claudikinsCommand } from "../support/command.ts";
import { type GeneratedProject, generatedProject } from "../support/daemon.ts";
import { strippingNode } from "../support/node.ts";
import { runProgram, shellLine } from "../support/process.ts";

setDefaultTimeout(60_000);

let project: GeneratedProject;
beforeAll(async () => {
  project = await generatedProject();
});
afterAll(async () => {
  await project[Symbol.asyncDispose]();
});

if (!strippingNode) console.warn("No Node of 22.18 or later is here: generated files are run under Bun alone.");
const runtimes = [["bun", process.execPath], ...(strippingNode ? [["node", strippingNode]] : [])] as [string, string][];

const lastLine = (text: string) => JSON.parse(text.trim().split("\n").at(-1) ?? "");

test.skipIf(process.platform === "win32").each(runtimes)(
  "a generated file that starts itself runs with %s",
  async (name, runtime) => {
    // There is no other runtime.
    const bin = join(project.path, `only-${name}`);
    mkdirSync(bin);
    symlinkSync(runtime, join(bin, name));
    const env = { ...project.env, PATH: `${bin}:/usr/bin:/bin` };
    const program = [project.file("wait"), '{"ms": 1}', "via:skill"];
    expect(await runProgram(program, { cwd: project.path, env })).toEqual({
      exitCode: 0,
      stdout: '"waited"\n',
      stderr: "",
    });
  },
);

describe.each(runtimes)("a program under %s", (name, runtime) => {
  const run = (tool: string, args?: object | string, stdin?: string) =>
    project.run(tool, args, { runtime, ...(stdin === undefined ? {} : { stdin }) });

  test("prints the value as JSON", async () => {
    expect(await run("wait", { ms: 1 })).toMatchObject({ exitCode: 0, stdout: '"waited"\n' });
    expect((await run("structured")).stdout).toBe('{"fine":true}\n');
    expect((await run("picture")).stdout).toBe('[{"type":"image","data":"AAAA","mimeType":"image/png"}]\n');
    expect((await run("words-only".replace("-", "_"))).stdout).toBe('"[not JSON"\n');
  });

  test("prints a large value completely", async () => {
    const { stdout } = await run("large", { characters: 4_000_000 });
    expect(JSON.parse(stdout)).toHaveLength(2_000_001);
  });

  test("accepts name=value, name:=json, name=@file and objects together, as claudikins call does", async () => {
    const text = join(project.path, "ms.txt");
    writeFileSync(text, "1");
    const give = (...words: string[]) =>
      runProgram([runtime, project.file("wait"), ...words], { cwd: project.path, env: project.env });
    for (const words of [["ms=1"], ["ms:=1"], [`ms=@${text}`], ['{"ms": "x"}', "ms=1"], ["ms=1", "via:skill"]]) {
      expect([words, await give(...words)]).toEqual([words, { exitCode: 0, stdout: '"waited"\n', stderr: "" }]);
    }
    const { exitCode, stdout, stderr } = await give("ms=soon");
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(lastLine(stderr)).toMatchObject({ code: "INVALID_ARGUMENTS", error: expect.stringContaining('"ms" takes') });
    expect(lastLine((await give("ms:=[")).stderr)).toMatchObject({
      code: "USAGE",
      error: expect.stringContaining("ms:=[ is not JSON"),
    });
  });

  test("reads standard input", async () => {
    expect((await run("wait", "-", '{"ms": 1}')).stdout).toBe('"waited"\n');
    const { exitCode, stdout, stderr } = await run("wait", "-", "{");
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(lastLine(stderr)).toMatchObject({
      code: "USAGE",
      error: expect.stringContaining("Standard input is not JSON"),
    });
  });

  test("prints a failure as one line of JSON, with its exit code", async () => {
    const failures = await Promise.all([
      run("refuse"),
      run("wait"),
      run("wait", { ms: "x" }),
      run("wait", "nonsense"),
      run("wait", "[1]"),
    ]);
    expect(failures.map(({ exitCode, stdout, stderr }) => ({ exitCode, stdout, ...lastLine(stderr) }))).toEqual([
      { exitCode: 5, stdout: "", error: "not today", code: "TOOL_FAILED" },
      {
        exitCode: 2,
        stdout: "",
        error: 'seen.wait: the argument "ms" is missing',
        code: "INVALID_ARGUMENTS",
        suggestion: expect.stringContaining("seen.wait(args: {"),
      },
      { exitCode: 2, stdout: "", error: expect.any(String), code: "INVALID_ARGUMENTS", suggestion: expect.any(String) },
      {
        exitCode: 2,
        stdout: "",
        error: '"nonsense" is not an argument',
        code: "USAGE",
        suggestion: expect.stringContaining("name=text"),
      },
      {
        exitCode: 2,
        stdout: "",
        error: '"[1]" is not an argument',
        code: "USAGE",
        suggestion: expect.any(String),
      },
    ]);
  });

  test("prints its help without a call", async () => {
    const { exitCode, stdout } = await run("wait", "--help");
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`Usage: ${name} wait.ts '{"name": "value"}'`);
    expect(stdout).toContain("Example in code: await seen.wait(");
    expect(stdout).toContain('"description": "How long."');
  });

  test("works through a link", async () => {
    const link = join(project.path, `${name}-link.ts`);
    symlinkSync(project.file("structured"), link);
    expect((await runProgram([runtime, link], { env: project.env })).stdout).toBe('{"fine":true}\n');
  });

  test("can be imported by another program, which ends by itself", async () => {
    const program = project.write(
      `${name}-program.ts`,
      `import { wait, tool } from ${JSON.stringify(project.file("wait"))};
       import { refuse } from ${JSON.stringify(project.file("refuse"))};
       const { code, message } = await refuse({}).catch((error) => error);
       const values = await Promise.all(Array.from({ length: 600 }, () => wait({ ms: 1 })));
       console.log(JSON.stringify({ name: tool.name, code, message, values: new Set(values).size, count: values.length }));`,
    );
    const { exitCode, stdout } = await runProgram([runtime, program], { env: project.env });
    expect({ exitCode, ...JSON.parse(stdout) }).toEqual({
      exitCode: 0,
      name: "wait",
      code: "TOOL_FAILED",
      message: "not today",
      values: 1,
      count: 600,
    });
  });
});

test("a file in a bundle is not a program", async () => {
  const program = project.write(
    "bundled.ts",
    `import { wait } from ${JSON.stringify(project.file("wait"))};
    console.log(typeof wait);`,
  );
  const outfile = join(project.path, "bundle", "out.js");
  const built = await runProgram([process.execPath, "build", "--target=bun", program, `--outfile=${outfile}`]);
  expect(built.exitCode).toBe(0);
  expect((await runProgram([process.execPath, outfile], { env: project.env })).stdout).toBe("function\n");
});

test("files are modules, even in a project of scripts", async () => {
  const pack = project.write("project/package.json", { type: "commonjs" });
  for (const [, runtime] of runtimes) {
    expect((await project.run("structured", undefined, { runtime })).stdout).toBe('{"fine":true}\n');
  }
  await Bun.file(pack).delete();
});

describe("the executable", () => {
  /** A claudikins that notes that it was started. */
  function wrapper(name: string): { path: string; started: () => Promise<boolean> } {
    const note = join(project.path, `${name.replaceAll("/", "-")}-started`);
    const words = shellLine(claudikinsCommand);
    const path = project.write(name, `#!/bin/sh\n: > "${note}"\nexec ${words} "$@"\n`);
    chmodSync(path, 0o755);
    return { path, started: () => Bun.file(note).exists() };
  }

  test("comes from CLAUDIKINS_EXECUTABLE, else from PATH, else is the one that wrote the files", async () => {
    const [named, onPath] = [wrapper("named/any"), wrapper("bin/claudikins")];
    const PATH = `${join(project.path, "bin")}:${project.env["PATH"]}`;
    await project.value("seen", {}, { CLAUDIKINS_EXECUTABLE: named.path, PATH, SEEN_TOKEN: "a" });
    expect([await named.started(), await onPath.started()]).toEqual([true, false]);
    await project.value("seen", {}, { PATH, SEEN_TOKEN: "b" });
    expect(await onPath.started()).toBe(true);
    expect(await project.value("seen", {}, { SEEN_TOKEN: "c" })).toMatchObject({ token: "c" });
  });

  test("is reported if it does not exist", async () => {
    const env = { SEEN_TOKEN: "d", PATH: "/nowhere", XDG_DATA_HOME: join(project.path, "nowhere") };
    const { exitCode, stderr } = await project.run("seen", {}, { env });
    expect({ exitCode, ...lastLine(stderr) }).toEqual({
      exitCode: 2,
      error: "claudikins is neither on the PATH nor where it was when it wrote these files",
      code: "FILE_NOT_FOUND",
      suggestion: "Install claudikins, or set CLAUDIKINS_EXECUTABLE to its path.",
    });
  });

  test("is reported if it cannot be started or ends at once", async () => {
    const run = (script: string) => {
      const path = project.write("broken/claudikins", script);
      chmodSync(path, 0o755);
      return project.run("seen", {}, { env: { SEEN_TOKEN: "e", CLAUDIKINS_EXECUTABLE: path } });
    };
    expect(lastLine((await run("#!/bin/sh\necho 'no more memory' >&2; exit 9")).stderr)).toMatchObject({
      error: "The daemon did not start: no more memory",
      code: "UNEXPECTED",
    });
    expect(lastLine((await run("#!/nowhere/sh\n")).stderr)).toMatchObject({ code: "UNEXPECTED" });
  });
});

test("an invalid config has the same error as in claudikins", async () => {
  await using broken = await generatedProject();
  broken.write("project/claudikins.json", '{"mcpServers": {"seen": {"command": 1}}}');
  const { exitCode, stderr } = await broken.run("seen", {});
  expect({ exitCode, ...lastLine(stderr) }).toMatchObject({ exitCode: 2, code: "CONFIG_INVALID" });
  await Bun.file(broken.config).delete();
  const gone = await broken.run("seen", {});
  expect({ exitCode: gone.exitCode, ...lastLine(gone.stderr) }).toMatchObject({
    exitCode: 2,
    code: "CONFIG_NOT_FOUND",
  });
});

test("a config that is not trusted, or has changed since, is refused", async () => {
  await using cloned = await generatedProject();
  const refused = await cloned.run("seen", {}, { env: { CI: "" } });
  expect({ exitCode: refused.exitCode, ...lastLine(refused.stderr) }).toMatchObject({
    exitCode: 2,
    code: "CONFIG_NOT_TRUSTED",
    suggestion: expect.stringContaining(`claudikins trust ${cloned.config}`),
  });
  expect(await cloned.daemons()).toEqual([]);
  await cloned.claudikins("trust", "--yes");
  expect((await cloned.run("seen", {}, { env: { CI: "" } })).exitCode).toBe(0);
  cloned.write("project/claudikins.json", { mcpServers: { seen: { command: "touch", args: ["started"] } } });
  expect((await cloned.run("seen", {}, { env: { CI: "" } })).exitCode).toBe(2);
  expect(existsSync(join(cloned.path, "project", "started"))).toBe(false);
});

test("a registry that was moved with its project finds its config", async () => {
  await using moved = await generatedProject();
  const elsewhere = join(moved.path, "elsewhere");
  renameSync(join(moved.path, "project"), elsewhere);
  const file = moved.file("seen").replace("/project/", "/elsewhere/");
  const { stdout } = await runProgram([process.execPath, file], { env: moved.env });
  expect(JSON.parse(stdout)).toMatchObject({ cwd: elsewhere });
});

test("a registry contains no paths of the machine, since sandboxed code reads it", async () => {
  const registry = join(project.path, "project", ".claudikins", "registry");
  const files = (readdirSync(registry, { recursive: true }) as string[]).filter((name) => /\.\w+$/.test(name));
  expect(files).toContain("_runtime/bridge-code.js");
  for (const name of files) {
    const text = await Bun.file(join(registry, name)).text();
    expect([name, text.includes(project.path), text.includes(root)]).toEqual([name, false, false]);
  }
  expect(JSON.parse(await Bun.file(project.note()).text())).toEqual({
    registry,
    config: project.config,
    command: claudikinsCommand,
    version,
  });
});
