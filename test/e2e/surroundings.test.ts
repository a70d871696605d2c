/** The executable needs nothing around it: no node_modules, no config, no home, no writable folder. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { executable } from "../support/claudikins.ts";
import { ownFolder } from "../support/own-folder.ts";
import { processesLeft, runProgram } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ isShared: true });

const countOrders = ["exec", "-e", "return (await demo.list_orders()).total"];

test("exec works with an empty home and a read-only working directory", async () => {
  const [home, cwd] = [join(folder.path, "home"), join(folder.path, "read-only")];
  for (const path of [home, cwd]) mkdirSync(path);
  chmodSync(cwd, 0o555);
  const { stdout, exitCode } = await runProgram([executable(), ...countOrders], { cwd, env: { HOME: home, ...noXdg } });
  expect({ stdout, exitCode }).toEqual({ stdout: "2400\n", exitCode: 0 });
  expect(readdirSync(cwd)).toEqual([]);
  // The tools of the demo are stored in the data folder, and search finds them.
  const found = await runProgram([executable(), "search", "refund an order"], { cwd, env: { HOME: home, ...noXdg } });
  expect(found.stdout).toStartWith("demo.refund_order\n");
  expect(readdirSync(home)).toEqual([".local"]);
});

/** Without the folders of the preload. */
const noXdg = { XDG_CONFIG_HOME: "", XDG_DATA_HOME: "", XDG_CACHE_HOME: "", XDG_STATE_HOME: "" };

test("exec works with a home that cannot be written to, and gen says what is wrong", async () => {
  const env = { HOME: "/dev/null", ...noXdg };
  const ran = await runProgram([executable(), ...countOrders], { cwd: folder.path, env });
  expect(ran).toMatchObject({ stdout: "2400\n", exitCode: 0 });
  const generated = await runProgram([executable(), "gen"], { cwd: folder.path, env });
  expect(generated.exitCode).toBe(2);
  expect(generated.stderr).toContain("/dev/null/.local/share/claudikins");
});

test("exec works without any environment variables", async () => {
  const child = Bun.spawn([executable(), ...countOrders], {
    cwd: folder.path,
    env: {},
    stdout: "pipe",
    stderr: "pipe",
  });
  expect(await child.stdout.text()).toBe("2400\n");
  expect(await child.exited).toBe(0);
});

test("large values are complete in a pipe, and a closed pipe is not an error", async () => {
  const large = `return "x".repeat(5_000_000)`;
  const { stdout } = await runProgram([executable(), "exec", "-e", large], { cwd: folder.path });
  expect(stdout.length).toBe(5_000_001);
  const head = await runProgram(["sh", "-c", `"${executable()}" exec -e '${large}' | head -c 5`], { cwd: folder.path });
  expect(head.stdout).toBe("xxxxx");
  expect(head.stderr).not.toContain("error");
});

test("the time limit ends code inside the engine's own loops, and the process exits", async () => {
  const startedAt = performance.now();
  const code = "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)";
  const ended = await runProgram([executable(), "exec", "-e", code, "--timeout", "500ms"], { cwd: folder.path });
  expect(ended.exitCode).toBe(6);
  expect(ended.stderr).toContain("did not finish within 500 ms");
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});

test("a broken server does not affect others", async () => {
  using project = temporaryFolder();
  project.write("claudikins.json", {
    mcpServers: {
      odd: fixture("odd", project.path),
      broken: fixture("crash-on-start"),
      missing: { command: "no-such-command-anywhere" },
      unset: { command: "node", env: { TOKEN: "${NO_SUCH_VARIABLE}" } },
    },
  });
  const run = (code: string) => runProgram([executable(), "exec", "-e", code], { cwd: project.path });
  expect(await run("return odd.structured()")).toMatchObject({ exitCode: 0 });
  const failed = await run("return broken.anything()");
  expect(failed.exitCode).toBe(4);
  expect(failed.stderr).toContain("fatal: no database at db://nowhere");
  expect(await run("return missing.anything()")).toMatchObject({ exitCode: 4 });
  expect((await run("return unset.anything()")).stderr).toContain("NO_SUCH_VARIABLE");
  expect(await processesLeft(project.path)).toEqual([]);
});
