/** The launcher of the npm package, in a made-up node_modules: which executable it runs, how, and what it says if there is none. */
import { describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { platformOf, platforms } from "../../src/setup/upgrade/platforms.ts";
import { root } from "../support/claudikins.ts";
import { strippingNode } from "../support/node.ts";
import { ownFolder } from "../support/own-folder.ts";
import { runProgram } from "../support/process.ts";
import { atTerminal } from "../support/terminal.ts";

const launcher = join(root, "scripts", "release", "launcher", "claudikins.cjs");
const host = platformOf(process)!;
const node = strippingNode ?? "node";
const canReplace = Bun.spawnSync([node, "-e", "process.exit(process.execve ? 0 : 1)"]).exitCode === 0;

const folder = ownFolder({ isShared: true });

/** A project with the launcher, and a shell script as the executable of each platform. Returns the path of the launcher. */
function installed(name: string, executables: Record<string, string>): string {
  const modules = join(folder.path, name, "node_modules");
  const path = join(modules, "claudikins", "bin", "claudikins.cjs");
  mkdirSync(dirname(path), { recursive: true });
  copyFileSync(launcher, path);
  for (const [platform, script] of Object.entries(executables)) {
    const { executable } = platforms.find((each) => each.name === platform)!;
    const place = join(name, "node_modules", "@claudikins", platform);
    folder.write(join(place, "package.json"), { name: `@claudikins/${platform}` });
    chmodSync(folder.write(join(place, "bin", executable), `#!/bin/sh\n${script}\n`), 0o755);
  }
  return path;
}

/** The ways in which the launcher runs an executable. The second is that of older versions of Node. */
const ways = [
  { way: "replacing itself", options: [] as string[], isPossible: canReplace },
  { way: "as a child of Node", options: ["--require", "./without-execve.cjs"], isPossible: true },
].filter(({ isPossible }) => isPossible);

describe.each(ways)("the executable, $way,", ({ way, options }) => {
  function command(script: string, ...args: string[]): string[] {
    folder.write("without-execve.cjs", "process.execve = undefined;");
    return [node, ...options, installed(way, { [host.name]: script }), ...args];
  }
  const run = (script: string, args: string[] = [], stdin = "") =>
    runProgram(command(script, ...args), { cwd: folder.path, stdin, env: { GIVEN: "to the launcher" } });

  test("gets all arguments, the input and the environment", async () => {
    const script = 'for word; do echo "<$word>"; done; echo "$GIVEN"; cat; echo problem >&2';
    const args = ["exec", "-e", "return 'a b'", "", "--", "--version"];
    expect(await run(script, args, "input")).toEqual({
      exitCode: 0,
      stdout: `${args.map((word) => `<${word}>\n`).join("")}to the launcher\ninput`,
      stderr: "problem\n",
    });
  });

  test.each([0, 1, 7, 130])("passes on exit code %i", async (code) => {
    expect((await run(`exit ${code}`)).exitCode).toBe(code);
  });

  test.each(["SIGTERM", "SIGKILL", "SIGSEGV"])("passes on that it was ended by %s", async (signal) => {
    const child = Bun.spawn(command(`kill -${signal.slice(3)} $$`), {
      cwd: folder.path,
      stdio: ["ignore", "ignore", "ignore"],
    });
    await child.exited;
    expect(child.signalCode as string).toBe(signal);
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "gets %s that is sent to the launcher, and can end on its own",
    async (signal) => {
      const script = `trap 'echo ended; exit 7' ${signal.slice(3)}; echo ready; while :; do sleep 0.05; done`;
      const child = Bun.spawn(command(script), { cwd: folder.path, stdio: ["ignore", "pipe", "ignore"] });
      let said = "";
      for await (const bytes of child.stdout) {
        said += new TextDecoder().decode(bytes);
        if (said === "ready\n") child.kill(signal);
      }
      expect({ said, code: await child.exited }).toEqual({ said: "ready\nended\n", code: 7 });
    },
  );

  test("gets one Ctrl-C from a terminal, and not a second one from the launcher", async () => {
    const script = `n=0; trap 'n=$((n + 1))' INT; echo ready; while [ $n = 0 ]; do sleep 0.05; done; sleep 0.3; echo "interrupts: $n"`;
    await using terminal = atTerminal(command(script), { cwd: folder.path });
    await terminal.see("ready");
    terminal.type("\u0003");
    await terminal.see("interrupts: 1");
    expect(await terminal.exited).toBe(0);
  });
});

test.skipIf(!canReplace)(
  `the executable takes the place of Node${canReplace ? "" : " (skipped: needs Node 22.15)"}`,
  async () => {
    const child = Bun.spawn([node, installed("replaced", { [host.name]: "echo $$" })], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    expect(await child.stdout.text()).toBe(`${child.pid}\n`);
  },
);

/** Runs the launcher as on another machine. */
async function runOn(os: string, cpu: string, path: string, loader = "/lib64/ld-linux-x86-64.so.2") {
  const runtime = folder.write("runtime", `\u007fELF\0\0\0${loader}\0`);
  const settings = { platform: os, arch: cpu, execPath: runtime };
  const setting = Object.entries(settings).map(
    ([name, value]) => `Object.defineProperty(process, "${name}", { value: ${JSON.stringify(value)} });`,
  );
  const machine = folder.write("machine.cjs", `${setting.join("\n")}\nprocess.execve = undefined;`);
  return runProgram([node, "--require", machine, path]);
}

test.each(platforms.filter(({ os }) => os !== "win32").map((platform) => [platform.name, platform] as const))(
  "on %s, its executable runs, and no other that is installed too",
  async (name, { os, cpu, libc }) => {
    const path = installed("all", Object.fromEntries(platforms.map((each) => [each.name, `echo ${each.name}`])));
    const loader = libc === "musl" ? `/lib/ld-musl-${cpu}.so.1` : `/nix/store/glibc/lib/ld-linux-${cpu}.so.2`;
    expect(await runOn(os, cpu, path, loader)).toEqual({ exitCode: 0, stdout: `${name}\n`, stderr: "" });
  },
);

test("a Node without a loader is asked for its C library", async () => {
  const path = installed("report", { [host.name]: "echo found" });
  expect(await runOn(host.os, host.cpu, path, "")).toMatchObject({ stdout: "found\n" });
});

const again = "npm install --global --include=optional claudikins";

test.each([
  [
    "freebsd",
    "x64",
    [],
    "claudikins is not available for freebsd on x64",
    "claudikins runs on Linux and macOS (x64 and arm64) and on Windows (x64).",
  ],
  [
    "win32",
    "arm64",
    ["windows-x64"],
    "claudikins is not available for win32 on arm64",
    "claudikins runs on Linux and macOS (x64 and arm64) and on Windows (x64).",
  ],
  [
    "linux",
    "x64",
    [],
    "the package @claudikins/linux-x64, which contains the executable, is not installed",
    `Install claudikins again, without --omit=optional or --no-optional: ${again}`,
  ],
  [
    "linux",
    "arm64",
    ["darwin-arm64"],
    "the package @claudikins/linux-arm64 is not installed, but @claudikins/darwin-arm64 is",
    `node_modules was made on another platform. Install claudikins again on this one: ${again}`,
  ],
  [
    "darwin",
    "x64",
    ["darwin-arm64"],
    "the package @claudikins/darwin-x64 is not installed, but @claudikins/darwin-arm64 is",
    `This Node.js is for x64, and another Node.js installed claudikins. Use that one, or install claudikins again: ${again}`,
  ],
])("on %s %s with %p, the launcher says what is missing and what to do", async (os, cpu, names, message, hint) => {
  const path = installed(`missing-${os}-${cpu}`, Object.fromEntries(names.map((name) => [name, "exit 9"])));
  expect(await runOn(os, cpu, path)).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: `error: ${message}\n\nhint: ${hint}\n`,
  });
});

test("an executable that cannot run is an error that names it", async () => {
  const path = installed("broken", { [host.name]: "" });
  const executable = join(dirname(dirname(dirname(path))), "@claudikins", host.name, "bin", host.executable);
  chmodSync(executable, 0o644);
  expect(existsSync(executable)).toBe(true);
  expect(await runProgram([node, path])).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: `error: cannot run ${executable} (EACCES)\n\nhint: Install claudikins again: npm install --global claudikins\n`,
  });
});
