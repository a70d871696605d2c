/**
 * Two sessions of the real Claude Code in two folders and the real Codex in a third work at the same moment, with the servers of their user.
 * Claude Code is too large to be installed with the tests. `TEST_SERVERS` is a folder with it, and with the server for git if Python can
 * install it:
 *
 *     npm install @anthropic-ai/claude-code@2.1.330 && python3 -m venv . && bin/pip install mcp-server-git
 *
 * Without that server, a small one of the tests has its name.
 */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claude, claudeCode, scriptedModel } from "../support/claude-code.ts";
import { executable } from "../support/claudikins.ts";
import { codexCommand, codexModel, codexSettings, problemOfCodex, removeCodex } from "../support/codex.ts";
import { processesLeft, processesWith, runProgram, scriptOf, testEnvironment } from "../support/process.ts";
import { filesystem, fixture, memory } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(300_000);

const gitServer = join(process.env["TEST_SERVERS"] ?? "", "bin", "mcp-server-git");
afterAll(removeCodex);
const problem = existsSync(claude) ? await problemOfCodex() : "TEST_SERVERS has no Claude Code";
const note = problem === undefined ? "" : ` (skipped: ${problem})`;

const agents = ["one", "two", "three"] as const;

test.skipIf(problem !== undefined)(
  `two Claude Codes and Codex share one process of memory, filesystem and git, and each has its own shell${note}`,
  async () => {
    const folder = temporaryFolder();
    const at = (...names: string[]) => join(folder.path, ...names);
    for (const name of ["notes", "home/.codex", ...agents]) mkdirSync(at(name), { recursive: true });
    mkdirSync(at("runtime"), { mode: 0o700 });
    for (const words of [
      ["init", "-q"],
      ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first", "--allow-empty"],
    ])
      expect((await runProgram(["git", ...words], { cwd: at("notes") })).exitCode).toBe(0);
    const isGitReal = existsSync(gitServer);
    const { command: seen, args: seenArgs } = fixture("seen");
    const standIn = () => scriptOf([seen, ...seenArgs], at("bin", "mcp-server-git"));
    folder.write("home/.config/claudikins/claudikins.json", {
      mcpServers: {
        memory: memory(at("memory.jsonl")),
        files: filesystem(at("notes")),
        git: { command: isGitReal ? gitServer : standIn(), args: ["--repository", at("notes")] },
        shell: fixture("shell", folder.path),
      },
    });
    const env = testEnvironment({
      HOME: at("home"),
      XDG_RUNTIME_DIR: at("runtime"),
      XDG_DATA_HOME: at("data"),
      XDG_CONFIG_HOME: at("home", ".config"),
      CLAUDIKINS_DAEMON: "on",
    });
    // Each agent begins its second program when all have ended their first. Until then, all their servers run.
    const meeting = Promise.withResolvers<void>();
    let arrived = 0;
    const processes = { memory: 0, files: 0, git: 0, shell: 0 };
    const before = async (step: number) => {
      if (step === 0) return;
      arrived += 1;
      if (arrived === agents.length) {
        processes.memory = processesWith(at("memory.jsonl")).length;
        processes.files = processesWith("server-filesystem").filter((pid) =>
          processesWith(at("notes")).includes(pid),
        ).length;
        processes.git = processesWith(`--repository ${at("notes")}`).length;
        processes.shell = processesWith(`shell ${folder.path}`).length;
        meeting.resolve();
      }
      await meeting.promise;
    };
    const programs = (agent: string) => [
      `const log = await git.${isGitReal ? `git_log({ repo_path: ${JSON.stringify(at("notes"))}, max_count: 1 })` : "seen()"};
      const listed = await files.list_directory({ path: ${JSON.stringify(at("notes"))} });
      const { entities } = await memory.read_graph({});
      await shell.set_working_directory({ path: "${agent}" });
      return [Boolean(log), JSON.stringify(listed).includes(".git"), entities.length];`,
      'return "in " + (await shell.print_working_directory()).directory',
    ];
    const [command = "", ...args] = [executable(), "serve"];
    const runClaude = async (agent: string) => {
      await using model = scriptedModel(programs(agent), before);
      const entry = { type: "stdio", command, args, env };
      const { exitCode, stderr } = await claudeCode({ ...folder, path: at(agent) }, entry, model.url, agent);
      expect([exitCode, stderr]).toEqual([0, ""]);
      return model.results;
    };
    const runCodex = async (agent: string) => {
      await using model = codexModel(programs(agent), before);
      const table = Object.entries(env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
      const entry = `command = ${JSON.stringify(command)}\nargs = ["serve"]\ndefault_tools_approval_mode = "approve"\nrequired = true\n`;
      const more = `[mcp_servers.claudikins]\n${entry}\n[mcp_servers.claudikins.env]\n${table.join("\n")}\n`;
      writeFileSync(at("home", ".codex", "config.toml"), codexSettings(model, more));
      const ran = await runProgram([...codexCommand], {
        cwd: at(agent),
        env: { ...env, CODEX_HOME: at("home", ".codex") },
      });
      expect([ran.exitCode, ran.stderr]).toEqual([0, expect.any(String)]);
      return model.outputs.map((output) => JSON.stringify(output));
    };
    const results = await Promise.all([runClaude("one"), runClaude("two"), runCodex("three")]);
    expect(processes).toEqual({ memory: 1, files: 1, git: 1, shell: 3 });
    for (const [index, agent] of agents.entries()) {
      const all = results[index]!.join("\n");
      expect(all).toMatch(/true,\s*true,\s*0|\[true,true,0\]/);
      expect(all).toContain(`in ${agent}`);
    }
    await runProgram([executable(), "daemon", "stop", "--all"], { cwd: folder.path, env });
    expect(await processesLeft(folder.path)).toEqual([]);
    folder[Symbol.dispose]();
  },
);
