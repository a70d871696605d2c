/** Notifications with real daemons that are killed: each is sent at most once, and a line for an agent is in one session. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { openHost } from "../support/host.ts";
import { processesLeft, runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

/** A home with a daemon, and with a program that is called "nightly". */
class Home {
  readonly folder: TemporaryFolder;
  readonly env: Record<string, string>;

  private constructor(folder: TemporaryFolder) {
    this.folder = folder;
    const data = { XDG_DATA_HOME: join(folder.path, "data") };
    this.env = testEnvironment({ HOME: folder.path, ...data, CLAUDIKINS_DAEMON: "on" });
  }

  /** Does the work in a home whose program has this code. No process is left afterwards. */
  static async with(code: string, work: (home: Home) => Promise<void>): Promise<void> {
    using folder = temporaryFolder();
    const home = new Home(folder);
    folder.write("claudikins.json", { mcpServers: { counting: fixture("counting", join(folder.path, "counts")) } });
    folder.write("nightly.ts", code);
    await home.run("programs", "save", "nightly.ts", "--name", "nightly");
    await work(home);
    expect(await processesLeft(folder.path)).toEqual([]);
  }

  async run(...argv: string[]): Promise<string> {
    const options = { cwd: this.folder.path, env: this.env };
    const { exitCode, stdout, stderr } = await runProgram([...claudikinsCommand, ...argv], options);
    expect([argv, exitCode, stderr]).toEqual([argv, 0, expect.any(String)]);
    return stdout;
  }

  async json(...argv: string[]) {
    return JSON.parse(await this.run(...argv, "--json"));
  }

  async killDaemons(): Promise<void> {
    for (const { pid } of (await this.json("daemon", "status")).daemons) process.kill(pid, "SIGKILL");
    await eventually(async () => (await this.json("daemon", "status")).daemons.length === 0);
  }

  /** The command of a notification, which writes the state of the program into a file. */
  get telling(): string {
    return `echo "$CLAUDIKINS_STATE" >> '${join(this.folder.path, "told")}'`;
  }

  /** What was written. */
  get told(): string {
    const file = join(this.folder.path, "told");
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  }
}

// The first two wait for what must not happen, so they run at the same time.
test.concurrent("a command that runs when its daemon is killed is not run again by the next one", () =>
  Home.with("return 7;", async (home) => {
    await home.run("programs", "notify", "nightly", "--when", "done", "--command", `${home.telling}; exec sleep 20`);
    await home.run("programs", "run", "nightly");
    await eventually(() => home.told !== "");
    await home.killDaemons();
    await home.run("call", "counting.read");
    await Bun.sleep(8_000);
    expect(home.told).toBe("done\n");
    const deliveries = [{ state: "running", attempts: 1 }];
    expect(await home.json("programs", "deliveries")).toMatchObject({ deliveries });
    await home.run("daemon", "stop", "--all");
  }));

test.concurrent("the next daemon notifies once of a program whose daemon was killed while it ran", () =>
  Home.with("await counting.wait({ until: '/nowhere' });", async (home) => {
    await home.run("programs", "notify", "nightly", "--command", home.telling);
    await home.run("programs", "run", "nightly", "--detach");
    await eventually(() => existsSync(join(home.folder.path, "counts")));
    await home.killDaemons();
    expect(home.told).toBe("");
    await home.run("call", "counting.read");
    await eventually(() => home.told !== "", { withinMs: 60_000 });
    await Bun.sleep(5_000);
    expect(home.told).toBe("failed\n");
    await home.run("daemon", "stop", "--all");
  }));

test("only the first answer of the next session says what has ended", () =>
  Home.with("return 7;", async (home) => {
    await home.run("programs", "notify", "nightly", "--when", "done", "--agent");
    await home.run("programs", "run", "nightly");
    await eventually(async () => (await home.json("programs", "deliveries")).deliveries.length > 0);
    const text = async () => {
      await using host = await openHost(home.folder, { env: home.env });
      const answers = [];
      for (let call = 0; call < 2; call++) {
        answers.push(JSON.stringify(await host.call("execute_code", { code: "return 1" })));
      }
      return answers.map((answer) => answer.includes("nightly has ended"));
    };
    expect(await text()).toEqual([true, false]);
    expect(await text()).toEqual([false, false]);
    await home.run("daemon", "stop", "--all");
  }));

/** Less than the time for which the daemon waits for commands and webhooks that are under way. */
const restMs = 4_000;

test("a daemon ends at once if no notification is under way", () =>
  Home.with("return 7;", async (home) => {
    await home.run("programs", "notify", "nightly", "--command", "true");
    const begun = performance.now();
    await home.run("daemon", "stop", "--all");
    expect(performance.now() - begun).toBeLessThan(restMs);
  }));
