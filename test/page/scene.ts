/** A page with made-up data, served by this process: approvals, executions, servers with tools, and a ledger. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { silentLog } from "../../src/base/log.ts";
import { openPage } from "../../src/cli/daemon/open-page.ts";
import type { ConfigOrigin } from "../../src/config/discover.ts";
import { loadConfig } from "../../src/config/load.ts";
import { storeFile } from "../../src/config/locations.ts";
import { savedProgramsOf } from "../../src/config/saved-programs-place.ts";
import type { UserPage } from "../../src/page/user-page.ts";
import { Approvals } from "../../src/policy/approvals/approvals.ts";
import { Counts } from "../../src/programs/ledger/counts.ts";
import { ProgramLibrary } from "../../src/programs/saved/library.ts";
import type { SavedProgram } from "../../src/programs/saved/model.ts";
import { type Schedule, Schedules } from "../../src/programs/saved/schedules.ts";
import type { ExecutionRecord } from "../../src/programs/trace/record.ts";
import type { Approval } from "../../src/store/approval.ts";
import { executionHolder, type StoredLabel } from "../../src/store/labels.ts";
import { openStore } from "../../src/store/open.ts";
import type { Owner } from "../../src/store/replicas.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { fingerprintOf, rulesOf } from "../../src/tools/catalog/config-entry.ts";
import type { RegistryServer, RegistryTool } from "../../src/tools/model.ts";
import { assignNames, sandboxGlobals } from "../../src/tools/names.ts";
import { updateIndex } from "../../src/tools/registry/store.ts";
import { testIo } from "../cli/in-memory.ts";
import { recordOf } from "../programs/trace/records.ts";
import { type AskingChanges, asking } from "../store/approvals.ts";
import { ExecutionRows } from "../store/sqlite/rows.ts";
import { storeCounts, storeRecord } from "../support/stored.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

export interface SceneServer {
  entry: object;
  tools: (Partial<RegistryTool> & { name: string })[];
  description?: string;
}

/** The rest is what its process has stored about it. */
interface KeptExecution {
  startedAt?: number;
  wakeAt?: number;
  door?: string;
  isForAgent?: boolean;
  host?: { name: string; version?: string };
  cwd?: string;
  program?: { name: string };
}

export class Scene implements AsyncDisposable {
  readonly folder: TemporaryFolder;
  readonly config: string;
  readonly env: Record<string, string>;
  /** What other processes would ask and decide. */
  readonly approvals: Approvals;
  readonly server: UserPage;
  readonly #origin: ConfigOrigin;
  executions: ExecutionRows | undefined;
  #owner: Owner | undefined;

  private constructor(
    folder: TemporaryFolder,
    config: string,
    env: Record<string, string>,
    approvals: Approvals,
    server: UserPage,
    origin: ConfigOrigin,
  ) {
    this.folder = folder;
    this.config = config;
    this.env = env;
    this.approvals = approvals;
    this.server = server;
    this.#origin = origin;
  }

  /** The config is the text, or else has the servers. Their tools are listed already. */
  static async open(
    servers: Record<string, SceneServer> = {},
    text?: string,
    variables: Record<string, string> = {},
  ): Promise<Scene> {
    const folder = temporaryFolder();
    const env = { HOME: folder.path, PATH: process.env["PATH"] ?? "", ...variables };
    const mcpServers = Object.fromEntries(Object.entries(servers).map(([name, { entry }]) => [name, entry]));
    mkdirSync(join(folder.path, ".config", "claudikins"), { recursive: true });
    const file = folder.write(".config/claudikins/claudikins.json", text ?? { mcpServers });
    const config = await loadConfig({ flag: file, cwd: folder.path, env });
    const { names } = assignNames([...config.servers.keys()], sandboxGlobals);
    const listed = Object.entries(servers).flatMap(([name, { tools, description = "" }], place): RegistryServer[] => {
      const own = config.servers.get(name);
      const jsName = names.find((each) => each.name === name)?.jsName;
      if (!own || tools.length === 0) return [];
      return [
        {
          name,
          jsName,
          category: "other",
          description,
          folder: `other/server-${place}`,
          fingerprint: fingerprintOf(own, jsName, rulesOf(own)),
          protocol: "2026-07-28",
          version: "1.4.0",
          tools: tools.map((tool) => ({
            description: "",
            inputSchema: { type: "object" },
            jsName: tool.name,
            ...tool,
          })),
        },
      ];
    });
    mkdirSync(config.folders.registry, { recursive: true });
    updateIndex(config.folders.registry, Object.keys(servers), listed);
    const io = testIo({ cwd: folder.path, env });
    const server = await openPage({ file, trust: true, cwd: folder.path, log: silentLog }, io);
    return new Scene(folder, file, env, new Approvals({ env }), server, config.origin);
  }

  /** An open approval that expires in an hour. */
  async ask(changes: AskingChanges = {}): Promise<string> {
    const now = Date.now();
    const row = { config: this.config, askedAt: now, expiresAt: now + 3_600_000, ...changes };
    return (await this.approvals.ask(asking(row))).id;
  }

  /** Lets the time of an open approval be over. */
  async expire(id: string): Promise<void> {
    const database = await openDatabase(storeFile(this.env));
    database.run("UPDATE approvals SET expires_at = ? WHERE id = ?", [Date.now(), id]);
    database.close();
  }

  /** The rows with these ids. */
  async rows(...ids: string[]): Promise<Approval[]> {
    const all = await this.approvals.list();
    return ids.map((id) => all.find((each) => each.id === id)!);
  }

  async record(changes: Partial<ExecutionRecord> = {}): Promise<string> {
    const record = recordOf({ config: this.config, ...changes });
    await storeRecord(this.env, record);
    return record.id;
  }

  /** An execution that this process runs, as others see it. */
  async keep(id: string, source: string, { startedAt = Date.now(), wakeAt, ...request }: KeptExecution = {}) {
    this.#owner ??= await openStore(this.env).takeOwner();
    this.executions ??= new ExecutionRows(await openDatabase(storeFile(this.env)));
    const { name: owner } = this.#owner;
    this.executions.add(id, owner, { config: this.config, startedAt, request: JSON.stringify({ source, ...request }) });
    if (wakeAt !== undefined) this.executions.sleep(id, wakeAt);
  }

  /** Lets an execution have read labelled data. */
  async read(execution: string, labels: readonly StoredLabel[]): Promise<void> {
    await using store = openStore(this.env);
    await store.labels.change({ add: { holders: [executionHolder(execution)], labels, at: Date.now() } });
  }

  /** The saved programs of the config, or of a door. */
  programs(door?: string): ProgramLibrary {
    return new ProgramLibrary(savedProgramsOf(this.#origin, this.env, door));
  }

  schedules(door?: string): Schedules {
    return new Schedules(savedProgramsOf(this.#origin, this.env, door));
  }

  /** Saves a program of one input. */
  async program(changes: Partial<SavedProgram> & { name: string }, door?: string): Promise<void> {
    const program: SavedProgram = {
      version: 1,
      description: "Counts the issues of a month.",
      code: "return (await github.list_issues({ month: input.month })).length;",
      input: { type: "object", properties: { month: { type: "string", examples: ["2026-10"] } }, required: ["month"] },
      calls: ["github.list_issues"],
      number: 1,
      savedAt: Date.now(),
      savedBy: "user",
      ...changes,
    };
    await this.programs(door).change(program.name, () => program);
  }

  /** Schedules a program at eight each morning. */
  async schedule(changes: Partial<Schedule> & { id: string }, door?: string): Promise<void> {
    const usual = { program: changes.id, input: {}, cron: "0 8 * * *", zone: "UTC", createdAt: Date.now() };
    await this.schedules(door).add({ version: 1, ...usual, ...changes });
  }

  async count(fill: (counts: Counts) => void, at = new Date()): Promise<void> {
    const counts = new Counts();
    fill(counts);
    await storeCounts(this.env, counts, at);
  }

  /** A new address of the page. */
  get url(): string {
    const { port, path, token } = this.server.invite();
    return `http://127.0.0.1:${port}${path}#${token}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close();
    await this.approvals[Symbol.asyncDispose]();
    await this.#owner?.[Symbol.asyncDispose]();
    this.folder[Symbol.dispose]();
  }
}
