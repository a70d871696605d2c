/** `setup` and `doctor` of the executable for a new user: a fresh home, and nothing else on the machine. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { executable } from "../support/claudikins.ts";
import { eventually } from "../support/eventually.ts";
import { processesLeft, processesWith, runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

test("setup and doctor succeed, and a generated file runs with nothing but claudikins installed", async () => {
  using folder = temporaryFolder();
  const at = (...path: string[]) => join(folder.path, ...path);
  folder.write("project/claudikins.json", {
    mcpServers: { seen: { ...fixture("seen", folder.path), category: "test" } },
  });
  mkdirSync(at("bin"));
  symlinkSync(executable(), at("bin/claudikins"));
  for (const name of ["sh", "env"]) symlinkSync(Bun.which(name) ?? "", at("bin", name));
  const env = {
    HOME: at("home"),
    PATH: at("bin"),
    XDG_CONFIG_HOME: "",
    XDG_DATA_HOME: "",
    XDG_RUNTIME_DIR: "",
  };
  const cwd = at("project");
  const claudikins = (...argv: string[]) => runProgram([at("bin/claudikins"), ...argv], { cwd, env });

  const setup = await claudikins("setup");
  expect([setup.exitCode, setup.stdout]).toEqual([
    0,
    expect.stringMatching(
      /^Created the registry folder: .*\nCreated the workspace folder: .*\nWrote \d+ tools of seen\n/,
    ),
  ]);
  const doctor = await claudikins("doctor", "--json");
  expect([doctor.exitCode, doctor.stderr]).toEqual([0, ""]);
  const findings = JSON.parse(doctor.stdout).findings as { id: string; state: string; message: string }[];
  const of = (id: string) => findings.find((finding) => finding.id === id);
  expect(of("executable.path")).toMatchObject({ state: "ok", message: `On the PATH: ${at("bin/claudikins")}` });
  expect(of("registry.runtime")?.message).toBe(`Generated files run with claudikins itself: ${at("bin/claudikins")}`);
  expect(of("server.seen")?.state).toBe("ok");
  // The server's folder is the parent of all this.
  expect(findings.filter(({ state }) => state !== "ok").map(({ id }) => id)).toEqual(["rules.seen"]);

  const file = at("project/.claudikins/registry/test/seen/wait.ts");
  expect(await runProgram([file, '{"ms": 1}'], { cwd: "/", env })).toEqual({
    exitCode: 0,
    stdout: '"waited"\n',
    stderr: "",
  });
  expect((await claudikins("daemon", "stop", "--all", "--now")).exitCode).toBe(0);
  expect(await processesLeft(folder.path)).toEqual([]);
});

test("the first Ctrl-C ends everything that doctor has started, with exit code 130", async () => {
  using folder = temporaryFolder();
  folder.write("claudikins.json", {
    mcpServers: Object.fromEntries(["a", "b", "c"].map((name) => [name, fixture("never-starts", folder.path)])),
  });
  mkdirSync(join(folder.path, "home"));
  const child = Bun.spawn([executable(), "doctor", "--json"], {
    cwd: folder.path,
    env: testEnvironment({ HOME: join(folder.path, "home"), XDG_DATA_HOME: "" }),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  await eventually(() => processesWith(folder.path).length >= 3);
  child.kill("SIGINT");
  expect(await child.exited).toBe(130);
  expect(await processesLeft(folder.path)).toEqual([]);
  expect(readdirSync(join(folder.path, "home")).filter((name) => name !== ".bun")).toEqual([]);
});
