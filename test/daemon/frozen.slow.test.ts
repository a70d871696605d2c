/** A daemon that is paused: commands say that it runs and does not answer, and how to end it. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { hasEnded } from "../../src/daemon/peers.ts";
import { type GeneratedProject, generatedProject } from "../support/daemon.ts";

setDefaultTimeout(60_000);

let project: GeneratedProject;
beforeEach(async () => {
  project = await generatedProject();
});
afterEach(() => project[Symbol.asyncDispose]());

test.skipIf(process.platform === "win32")(
  'a paused daemon is not "no daemon": status, stop and doctor name its process and what to do, and stop --now ends it',
  async () => {
    await project.value("seen");
    const { pid } = (await project.daemons())[0]!;
    expect(pid).toBeGreaterThan(1);
    process.kill(pid, "SIGSTOP");
    const text = `error: The daemon of ${project.config} (process ${pid}) runs, but does not answer: it was paused, or hangs\n`;
    const end = `claudikins daemon stop --now --config ${project.config}`;
    const hint = `\nhint: Let a paused process continue: kill -CONT ${pid}. To end it by force: ${end}\n`;
    // Each waits ten seconds for an answer.
    const [status, { stdout }, stopping, found] = await Promise.all([
      project.claudikins("daemon", "status"),
      project.claudikins("daemon", "status", "--json"),
      project.claudikins("daemon", "stop"),
      project.claudikins("doctor", "--no-servers"),
    ]);
    expect(status).toMatchObject({ stdout: "", stderr: text + hint });
    const silent = [{ pid, config: project.config, log: expect.stringContaining(".log") }];
    expect(JSON.parse(stdout)).toEqual({ daemons: [], silent });
    expect(stopping).toMatchObject({ exitCode: 4, stderr: text + hint });
    expect(found.stdout).toContain(
      `(process ${pid} of ${project.config}) runs, and did not answer within 10 s: it is busy, was paused, or hangs`,
    );
    // It may only be busy, so its end is a last resort and not the repair.
    expect(found.stdout).toContain(`If it stays silent, this ends it and interrupts its programs: ${end}\n`);
    expect(found.stdout).not.toContain(`fix: ${end}\n`);
    const stopped = await project.claudikins("daemon", "stop", "--now");
    expect(stopped).toMatchObject({ exitCode: 0, stdout: `Stopped daemon ${pid} of ${project.config}\n` });
    await hasEnded(pid, AbortSignal.timeout(5_000));
    expect((await project.claudikins("daemon", "status")).stderr).toStartWith("No daemon is running.");
  },
);
