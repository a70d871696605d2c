/** Collects what the page shows. Everything comes from files and from the running daemon, so several pages see the same. */
import type { CredentialStore } from "../clients/auth/credentials.ts";
import type { Environment } from "../config/environment.ts";
import { homeOf, ledgerFolder } from "../config/locations.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";
import { version } from "../version.ts";
import type { UiApprovals } from "./approvals.ts";
import type { State } from "./contract.ts";
import { ExecutionsReader } from "./executions.ts";
import { SavingsReader } from "./savings.ts";
import { type RunningServers, serversOf } from "./servers.ts";
import type { UiSignIns } from "./sign-ins.ts";

interface StateSources {
  /** The page's own toolbox. It starts no programs. */
  toolbox: Toolbox;
  approvals: UiApprovals;
  credentials: CredentialStore;
  signIns: UiSignIns;
  env: Environment;
  /** What the daemon of the config knows of its servers. Undefined if none is running. */
  running(): Promise<RunningServers | undefined>;
}

export class StateReader {
  readonly #sources: StateSources;
  readonly #executions: ExecutionsReader;
  readonly #savings: SavingsReader;

  constructor(sources: StateSources) {
    const { toolbox, env } = sources;
    this.#sources = sources;
    this.#executions = new ExecutionsReader(toolbox, env);
    this.#savings = new SavingsReader(ledgerFolder(env));
  }

  async read(): Promise<State> {
    const { toolbox, approvals, credentials, signIns, running, env } = this.#sources;
    await toolbox.reload?.refresh();
    const { origin } = toolbox.config;
    const listed = await approvals.list();
    const servers = serversOf(toolbox, credentials, await running(), (server) => signIns.of(server));
    return {
      version,
      config: origin.kind === "demo" ? null : origin.file,
      configText: origin.kind === "demo" ? "the built-in demo" : inHome(origin.file, env),
      problem: toolbox.reload?.problem,
      ...listed,
      executions: await this.#executions.read(new Set(listed.approvals.map(({ execution }) => execution))),
      servers,
      savings: this.#savings.read(),
    };
  }
}

function inHome(file: string, env: Environment): string {
  const home = homeOf(env);
  return home !== "/" && file.startsWith(`${home}/`) ? `~${file.slice(home.length)}` : file;
}
