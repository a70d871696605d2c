/** A project of a new user with a generated registry, whose files are called as a user would call them. */
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { claudikinsCommand } from "./command.ts";
import { type Ended, processesLeft, runProgram, testEnvironment } from "./process.ts";
import { fixture } from "./servers.ts";
import { type TemporaryFolder, temporaryFolder } from "./temporary.ts";

type Environment = Record<string, string>;

export interface GeneratedProject extends TemporaryFolder, AsyncDisposable {
  config: string;
  /** Its own variables, without those of the developer. */
  env: Environment;
  /** The path of a tool's file. */
  file(tool: string, server?: string): string;
  /** Runs a tool's file as a program, by default under Bun. */
  run(
    tool: string,
    args?: object | string,
    options?: { env?: Environment; runtime?: string; stdin?: string },
  ): Promise<Ended>;
  /** The value that the program prints. */
  value(tool: string, args?: object, env?: Environment): Promise<unknown>;
  claudikins(...args: string[]): Promise<Ended>;
  /** What `claudikins daemon status` says. */
  daemons(): Promise<DaemonStatus[]>;
  /** The file with claudikins' note about this machine, which exists once the files are written. */
  note(): string;
  /** Processes with the folder on their command lines: daemons and servers. */
  left(): Promise<number[]>;
}

export interface DaemonStatus {
  pid: number;
  version: string;
  config: string | null;
  calls: { running: number; done: number };
  servers: Record<string, string>;
  /** The running processes. */
  held: { server: string; pid: number }[];
  page: boolean;
}

/** A project with the server `seen` and others; it ends every process that it started. */
export async function generatedProject(
  servers: (folder: string) => Record<string, object> = () => ({}),
): Promise<GeneratedProject> {
  const folder = temporaryFolder();
  const runtime = join(folder.path, "runtime");
  mkdirSync(runtime, { mode: 0o700 });
  const env = testEnvironment({
    HOME: join(folder.path, "home"),
    XDG_RUNTIME_DIR: runtime,
    XDG_DATA_HOME: join(folder.path, "data"),
    XDG_CONFIG_HOME: join(folder.path, "config"),
  });
  const seen = { ...fixture("seen", folder.path), env: { TOKEN: "${SEEN_TOKEN:-none}" }, category: "test" };
  const mcpServers = { seen, ...servers(folder.path) };
  const config = folder.write("project/claudikins.json", { mcpServers });
  const cwd = join(folder.path, "project");
  const claudikins = (...args: string[]) => runProgram([...claudikinsCommand, ...args], { cwd, env });
  const file = (tool: string, server = "seen") => join(cwd, ".claudikins", "registry", "test", server, `${tool}.ts`);
  const generated = await claudikins("gen");
  // Some of its servers may be broken.
  if (!existsSync(file("seen"))) throw new Error(generated.stderr);

  const project: GeneratedProject = {
    ...folder,
    config,
    env,
    file,
    claudikins,
    run(tool, args, { env: more = {}, runtime = process.execPath, stdin } = {}) {
      const words = args === undefined ? [] : [typeof args === "string" ? args : JSON.stringify(args)];
      const options = { cwd: folder.path, env: { ...env, ...more }, ...(stdin === undefined ? {} : { stdin }) };
      return runProgram([runtime, file(tool), ...words], options);
    },
    async value(tool, args, more = {}) {
      const { exitCode, stdout, stderr } = await project.run(tool, args, { env: more });
      if (exitCode !== 0) throw new Error(stderr);
      return JSON.parse(stdout);
    },
    async daemons() {
      const { stdout } = await claudikins("daemon", "status", "--json");
      return JSON.parse(stdout).daemons;
    },
    note() {
      const notes = join(folder.path, "data", "claudikins", "registries");
      return join(notes, readdirSync(notes)[0] ?? "none");
    },
    left: () => processesLeft(folder.path),
    async [Symbol.asyncDispose]() {
      await runProgram([...claudikinsCommand, "daemon", "stop", "--all", "--now"], { cwd: folder.path, env });
      const left = await project.left();
      for (const pid of left) process.kill(pid, "SIGKILL");
      folder[Symbol.dispose]();
      if (left.length > 0) throw new Error(`${left.length} processes were left`);
    },
  };
  return project;
}
