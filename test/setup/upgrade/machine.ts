/** A user's machine with an installed executable, for upgrades. */
import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { executable } from "../../support/claudikins.ts";
import { type Ended, processesWith, runProgram, testEnvironment } from "../../support/process.ts";
import { fixture } from "../../support/servers.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { type ReleaseServer, releaseServer } from "./release-server.ts";

/** The version that is installed. */
export const old = "0.1.0";

export const released = (version: string, format?: number) =>
  executable("--released", "--version", version, ...(format === undefined ? [] : ["--format", String(format)]));

export interface InstalledMachine extends AsyncDisposable {
  folder: string;
  bin: string;
  /** The installed executable. */
  program: string;
  data: string;
  env: Record<string, string>;
  releases: ReleaseServer;
  run(argv: string[], more?: Record<string, string>): Promise<Ended>;
  /** The output of a command that must succeed. */
  text(...argv: string[]): Promise<string>;
  /** What the installed executable says of its version. */
  version(): Promise<string>;
  /** The names beside the executable. */
  beside(): string[];
  /** The lines of the server `counting`. */
  calls: string;
}

export async function installedMachine(): Promise<InstalledMachine> {
  const folder = temporaryFolder();
  const releases = releaseServer();
  const bin = join(folder.path, "bin");
  const program = join(bin, "claudikins");
  const runtime = join(folder.path, "run");
  for (const each of [bin, runtime]) mkdirSync(each, { mode: 0o700 });
  copyFileSync(released(old), program);
  const calls = join(folder.path, "calls");
  folder.write("project/claudikins.json", {
    mcpServers: { counting: { ...fixture("counting", calls), confirm: { act: "always" } } },
  });
  const env = testEnvironment({
    HOME: join(folder.path, "home"),
    XDG_DATA_HOME: join(folder.path, "data"),
    XDG_CONFIG_HOME: join(folder.path, "config"),
    XDG_RUNTIME_DIR: runtime,
    CLAUDIKINS_BASE_URL: releases.url,
    CLAUDIKINS_DAEMON: "on",
  });
  const cwd = join(folder.path, "project");
  const run = (argv: string[], more: Record<string, string> = {}) =>
    runProgram([program, ...argv], { cwd, env: { ...env, ...more } });
  const text = async (...argv: string[]) => {
    const { exitCode, stdout, stderr } = await run(argv);
    if (exitCode !== 0) throw new Error(`${argv.join(" ")}: ${stderr}`);
    return stdout.trim();
  };
  return {
    folder: folder.path,
    bin,
    program,
    data: join(folder.path, "data", "claudikins"),
    env,
    releases,
    run,
    text,
    calls,
    version: async () => (await run(["--version"])).stdout.trim(),
    beside: () => readdirSync(bin),
    async [Symbol.asyncDispose]() {
      await run(["daemon", "stop", "--all", "--now"]);
      for (const pid of processesWith(folder.path)) process.kill(pid, "SIGKILL");
      releases[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
}
