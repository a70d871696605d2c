/** A page as a person would see it on a working day. */
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { noteFailure } from "../../src/servers/failures/last-failures.ts";
import { ServerFailure } from "../../src/servers/failures/server-failure.ts";
import { Scene, type SceneServer } from "../../test/page/scene.ts";
import { callOf } from "../../test/programs/trace/records.ts";

const reads = { annotations: { readOnlyHint: true } };
const changes = { annotations: { readOnlyHint: false, destructiveHint: false } };
const destroys = { annotations: { destructiveHint: true } };

const servers: Record<string, SceneServer> = {
  github: {
    entry: {
      url: "https://api.githubcopilot.com/mcp/",
      description: "Repositories, issues and pull requests",
      confirm: { "*": "destructive", merge_pull_request: "always" },
      deny: ["delete_repository"],
    },
    tools: [
      { name: "create_issue", description: "Create an issue in a repository.", ...changes },
      { name: "get_file_contents", description: "Get the contents of a file or folder.", ...reads },
      { name: "list_commits", description: "List the commits of a branch.", ...reads },
      { name: "list_issues", description: "List the issues of a repository, with filters.", ...reads },
      { name: "list_pull_requests", description: "List the pull requests of a repository.", ...reads },
      { name: "merge_pull_request", description: "Merge a pull request.", ...destroys },
      { name: "update_pull_request", description: "Change the title, text or state of a pull request.", ...changes },
    ],
  },
  linear: {
    entry: { url: "https://mcp.linear.app/mcp", description: "Issues and projects" },
    tools: [
      { name: "create_issue", description: "Create an issue.", ...changes },
      { name: "list_issues", description: "List issues.", ...reads },
    ],
  },
  files: {
    entry: {
      command: "npx",
      args: ["-y", "@modelcontextprotocol/server-filesystem", "."],
      description: "Files of the project",
    },
    tools: [
      { name: "read_text_file", description: "Read a file as text.", ...reads },
      { name: "write_file", description: "Write a file, and replace it if it exists.", ...destroys },
    ],
  },
  postgres: {
    entry: { command: "postgres-mcp", args: ["shop"], description: "The database of the shop" },
    tools: [],
  },
};

const minute = 60_000;

export async function madeUpScene(): Promise<Scene> {
  const scene = await Scene.open(servers);
  const now = Date.now();
  const { servers: configured } = await loadConfig({ flag: scene.config, cwd: scene.folder.path, env: scene.env });
  noteFailure(
    configured.get("postgres")!,
    new ServerFailure("SERVER_UNAVAILABLE", "postgres exited", {
      why: "its process exited with code 1: connection to 127.0.0.1:5432 refused",
    }),
    scene.env,
  );
  const why = (line: string, says: string) => `${line} ${says}`;
  const earlier = await scene.ask({
    server: "github",
    tool: "merge_pull_request",
    execution: "0tqaxw0p1d",
    args: { owner: "acme", repo: "shop", pull_number: 408, merge_method: "rebase", delete_branch: true },
    askedAt: now - 160 * minute,
  });
  await scene.approvals.decide(earlier, { state: "approved", scope: "once", by: "agent" });
  await scene.ask({
    server: "github",
    tool: "merge_pull_request",
    execution: "0tqbch4mza",
    line: 7,
    code: 'await github.merge_pull_request({ owner: "acme", repo: "shop", pull_number: 412, merge_method: "squash" });',
    args: { owner: "acme", repo: "shop", pull_number: 412, merge_method: "squash" },
    why: why("mcpServers.github.confirm", 'says "always"'),
    askedAt: now - 4 * minute,
    expiresAt: now + 20 * 60 * minute,
  });
  await scene.ask({
    server: "files",
    tool: "write_file",
    execution: "0tqbcm2k9r",
    line: 12,
    code: 'await files.write_file({ path: "CHANGELOG.md", content: notes });',
    args: {
      path: "CHANGELOG.md",
      content: "# 2.4.0\n\n- Orders can be paid in parts.\n- The search finds archived orders.\n",
      options: { encoding: "utf-8", backup: { keep: 3, folder: ".backup" }, mode: 420 },
      mentions: [
        { issue: 1204, title: "Pay an order in parts" },
        { issue: 1188, title: "Archived orders are not found" },
      ],
    },
    why: why("policy.confirm", 'says "destructive", and the server marks the tool as destructive'),
    askedAt: now - minute,
    expiresAt: now + 23 * 60 * minute,
  });
  await scene.keep("0tqbch4mza", "for (const pull of ready) await review(pull);", {
    startedAt: now - 5 * minute,
    isForAgent: true,
    host: { name: "codex", version: "0.63" },
    cwd: join(scene.folder.path, "work/shop"),
  });
  await scene.read("0tqbch4mza", [
    { label: "private", source: "github.get_file_contents" },
    { label: "untrusted", source: "github.list_issues" },
  ]);
  await scene.keep("0tqbcm2k9r", "const notes = await notesSince(lastTag);", {
    startedAt: now - 2 * minute,
    isForAgent: true,
    host: { name: "claude-code", version: "2.1" },
    cwd: join(scene.folder.path, "work/docs"),
  });
  await scene.keep("0tqb7x01wd", 'await sleep("6h"); await remind(open);', {
    startedAt: now - 190 * minute,
    wakeAt: now + 130 * minute,
  });
  await recordOutcomes(scene, now);
  await scene.program({
    name: "issues-of-a-month",
    description: "Counts the issues of a month, by label.",
    savedBy: "agent",
    number: 1,
    savedAt: now - 26 * 60 * minute,
    calls: ["github.list_issues", "linear.list_issues"],
  });
  await scene.program({
    name: "weekly-report",
    description: "Writes the report of the week: merged pull requests, and issues that are still open.",
    calls: ["files.write_file", "github.list_pull_requests"],
    number: 1,
    savedAt: now - 9 * 24 * 60 * minute,
  });
  await scene.schedule({
    id: "weekly-report",
    cron: "0 8 * * 1",
    zone: "Europe/Berlin",
    input: { month: "2026-10" },
    lastRun: {
      due: now - 200 * minute,
      startedAt: now - 200 * minute,
      missed: 2,
      end: { at: now - 199 * minute, ok: false, message: "github.list_pull_requests: the server is signed out" },
    },
  });
  await scene.record({ program: "issues-of-a-month", at: now - 90 * minute, startedBy: "serve", durationMs: 1_900 });
  await scene.record({ program: "issues-of-a-month", at: now - 26 * 60 * minute, durationMs: 2_400 });
  for (let day = 0; day < 30; day += 1) {
    const busy = [0, 6].includes((day + 2) % 7) ? 0.1 : 0.6 + 0.4 * Math.abs(Math.sin(day * 1.7));
    scene.count(
      (counts) => {
        counts.addSums({
          sessions: Math.round(6 * busy),
          definitionChars: Math.round(1_400_000 * busy),
          surfaceChars: Math.round(21_000 * busy),
          executions: Math.round(24 * busy),
          codeChars: Math.round(18_000 * busy),
          returnedChars: Math.round(44_000 * busy),
          searches: Math.round(11 * busy),
          queryChars: 300,
          foundChars: Math.round(16_000 * busy),
        });
        const use = (server: string, tool: string, calls: number, failures = 0) =>
          counts.addUse(server, tool, {
            calls: Math.round(calls * busy),
            failures,
            durationMs: Math.round(calls * busy * 210),
            resultChars: Math.round(calls * busy * 9_000),
            takenChars: Math.round(calls * busy * 9_000),
            argumentChars: Math.round(calls * busy * 90),
          });
        use("github", "list_issues", 40);
        use("github", "get_file_contents", 31);
        use("linear", "list_issues", 18, day % 9 === 0 ? 1 : 0);
        use("files", "read_text_file", 66);
      },
      new Date(now - day * 24 * 60 * minute),
    );
  }
  return scene;
}

const tool = (server: string, name: string, calls = 1) => ({ server, tool: name, calls });

/** What agents of two projects have run in the last hours. */
async function recordOutcomes(scene: Scene, now: number): Promise<void> {
  const shop = { agent: "claude-code 2.1.4", folder: join(scene.folder.path, "work", "shop") };
  const reports = { agent: "codex-cli 0.61", folder: join(scene.folder.path, "work", "reports") };
  const commits = [tool("github", "list_commits", 6), tool("github", "get_file_contents", 8)];
  const outcomes = [
    { minutes: 3, calls: 14, durationMs: 2_310, charsIn: 412_000, ...shop, tools: commits },
    {
      ...{ minutes: 9, calls: 3, durationMs: 640, charsIn: 28_400, ...shop },
      tools: [tool("github", "list_issues"), tool("linear", "list_issues", 2)],
    },
    {
      ...{
        minutes: 12,
        calls: 2,
        durationMs: 900,
        hasContents: true,
        ...shop,
        tools: [tool("github", "list_issues", 2)],
      },
      comment: "Counts the open issues of October, by label",
      code: { chars: 63, lines: 1, text: 'return (await github.list_issues({ month: "2026-10" })).length;' },
      timeline: [
        callOf({ server: "github", tool: "list_issues", line: 1, startMs: 20, endMs: 380, resultChars: 9_400 }),
        callOf({ server: "github", tool: "list_issues", line: 1, startMs: 390, endMs: 880, resultChars: 12_100 }),
      ],
    },
    {
      ...{ minutes: 26, calls: 41, durationMs: 7_920, charsIn: 1_204_000, failures: 2, ...reports },
      tools: [tool("linear", "list_issues", 20), tool("files", "read_text_file", 19), tool("github", "list_issues", 2)],
    },
    {
      ...{ minutes: 31, calls: 1, durationMs: 30_000, charsIn: 0, ok: false, reason: "timeout" as const, ...reports },
      tools: [tool("github", "get_file_contents")],
    },
    {
      ...{ minutes: 44, calls: 4, durationMs: 81_400, ok: false, reason: "threw" as const, ...shop },
      ...{
        failedWith: "POLICY_DENIED",
        failures: 1,
        denied: 1,
        tools: [tool("github", "list_pull_requests", 3), tool("github", "merge_pull_request")],
      },
    },
    { minutes: 74, calls: 6, durationMs: 1_150, charsIn: 96_000, ...shop, tools: [tool("files", "read_text_file", 6)] },
    {
      ...{ minutes: 180, calls: 22, durationMs: 4_480, charsIn: 633_000, ...reports },
      tools: [tool("linear", "list_issues", 12), tool("github", "list_issues", 10)],
    },
  ];
  for (const { minutes, ...each } of outcomes.toReversed()) {
    await scene.record({ at: now - minutes * minute, startedBy: "serve", charsOut: 1_800, ...each });
  }
}
