/** The apps of the daemon's callers: of the whole config, of its doors and people, and of callers with another folder or session. */
import type { App } from "../app/app.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { type Environment, withAbsolutePath } from "../config/environment.ts";
import type { SavedProgramsPlace } from "../config/saved-programs-place.ts";
import type { Executions } from "../programs/execution/executions.ts";
import { type ExecutionView, viewOf } from "../programs/execution/stored-executions.ts";
import type { ScheduledPlace } from "../programs/saved/scheduler.ts";
import { inheritedNames } from "../servers/process/child-environment.ts";
import { DoorApps, viewKey } from "./door-apps.ts";
import type { DaemonCallRequest } from "./messages.ts";
import { shellSession } from "./protocol.ts";
import type { SharedServers } from "./shared/shared-servers.ts";

export interface CallerAppsOptions {
  sharedServers: SharedServers;
  /** The environment of servers that the daemon starts for callers. */
  environment: CallerEnvironment;
  /** The working directory of servers that name none, unless the caller names one. */
  cwd: string;
  log: Log;
  /** Opens the part of the config behind a door, or of a person. It ends with the daemon. */
  openDoor: (view: ExecutionView) => Promise<App>;
  /** Returns the place of the saved programs behind a door. */
  programsBehind: (door: string) => SavedProgramsPlace;
}

/**
 * The environment of servers that are started for calls over the socket. The daemon may have been started by a program with another
 * PATH, such as a desktop application, so a server starts with the environment of the caller that needs it first.
 */
export class CallerEnvironment {
  readonly #own: Environment;
  #env: Environment;

  /** `own` is the daemon's environment. It is used until a caller sends another one. */
  constructor(own: Environment) {
    this.#own = own;
    this.#env = own;
  }

  readonly now = (): Environment => this.#env;

  /** `env` has the variables that servers get without being asked for. All others are the daemon's own. */
  heard(env: Environment | undefined): void {
    if (!env) return;
    const usual = new Set(inheritedNames(this.#own));
    const others = Object.entries(this.#own).filter(([name]) => !usual.has(name));
    this.#env = withAbsolutePath({ ...Object.fromEntries(others), ...env });
  }
}

export class CallerApps implements AsyncDisposable {
  readonly #app: App;
  readonly #options: CallerAppsOptions;
  readonly #doors: DoorApps;
  /** Apps of callers with another working directory or session. */
  readonly #others = new Map<string, App>();
  /** Doors and people whose programs cannot be continued, by their keys. */
  readonly #closedDoors = new Set<string>();
  #executions: Executions | undefined;

  /** `app` is that of the whole config. Its owner disposes it. */
  constructor(app: App, options: CallerAppsOptions) {
    this.#app = app;
    this.#options = options;
    this.#doors = new DoorApps(options.openDoor);
    void app.executions().then((executions) => {
      this.#executions = executions;
    });
  }

  /** The executions of the whole config and of its doors. */
  get executions(): Executions[] {
    return [...(this.#executions ? [this.#executions] : []), ...this.#doors.executions];
  }

  /** The apps with pools of the whole config. */
  get withOwnPools(): App[] {
    return [...this.#others.values(), this.#app];
  }

  /** The app of a caller. Throws DOOR_NOT_FOUND. */
  async of({ door, cwd, session, env }: Pick<DaemonCallRequest, "door" | "cwd" | "session" | "env">): Promise<App> {
    this.#options.environment.heard(env);
    return this.#in(door === undefined ? this.#app : await this.#doors.of({ door }), cwd, session);
  }

  /** A server that names no working directory runs in the caller's, and a server that is not shared belongs to the session. */
  #in(app: App, folder: string | undefined, session: string): App {
    const { sharedServers, environment, cwd: ours } = this.#options;
    const cwd = folder ?? ours;
    if (cwd === ours && session === shellSession) return app;
    const key = JSON.stringify([viewKey(app.config), cwd, session]);
    const openChannel = sharedServers.channels(environment.now, session);
    const other = this.#others.get(key) ?? app.withOwnPool({ cwd, openChannel });
    this.#others.set(key, other);
    return other;
  }

  /** The places of saved programs that the daemon runs at their times. */
  scheduled(): ScheduledPlace[] {
    const app = this.#app;
    const opened = async (app: App) => ({
      executions: await app.executions(),
      parts: this.#in(app, undefined, shellSession),
    });
    const behind = app.config.doors.map((door) => ({
      place: this.#options.programsBehind(door),
      open: async () => opened(await this.#doors.of({ door })),
    }));
    return [{ place: app.config.savedPrograms, open: () => opened(app) }, ...behind];
  }

  /** Continues executions that no process runs: the given ones, and all executions whose ids callers have. */
  async adopt(asked: readonly string[] = []): Promise<void> {
    try {
      const executions = await this.#app.executions();
      await executions.adopt(this.#app, (cwd) => this.#in(this.#app, cwd, shellSession), asked);
      const unfinished = await executions.stored.unfinished(this.#app);
      const views = new Map(unfinished.map((row) => [viewKey(viewOf(row)), viewOf(row)]));
      for (const view of views.values())
        if (view.door !== undefined || view.person) await this.#adoptBehind(view, asked);
    } catch (error) {
      this.#options.log.warn(`Cannot continue executions: ${messageOf(error)}`);
    }
  }

  async #adoptBehind(view: ExecutionView, asked: readonly string[]): Promise<void> {
    const key = viewKey(view);
    if (this.#closedDoors.has(key)) return;
    const app = await this.#doors.of(view).catch((error: unknown) => {
      this.#closedDoors.add(key);
      const where = view.door === undefined ? "of a person" : `behind the door "${view.door}"`;
      this.#options.log.warn(`Cannot continue executions ${where}: ${messageOf(error)}`);
    });
    await (await app?.executions())?.adopt(app!, (cwd) => this.#in(app!, cwd, shellSession), asked);
  }

  /** Leaves the executions to the next daemon, while this one goes on. */
  async giveUpExecutions(): Promise<void> {
    this.#executions = undefined;
    for (const app of [...this.#others.values(), ...this.#doors.apps, this.#app]) {
      await (await app.executions()).endOf(app);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#others.values()].map((app) => app[Symbol.asyncDispose]()));
    await this.#doors[Symbol.asyncDispose]();
  }
}
