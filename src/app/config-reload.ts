/** Applies changes of the config to a running process. */
import { toClaudikinsError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Watched } from "../base/watched.ts";
import { type ConfigChoice, type ConfigOrigin, discoverConfig } from "../config/discover.ts";
import type { Config } from "../config/load.ts";

/** Interval between checks whether the config has changed, while it is watched. */
const configLookMs = 1_000;

const ownRegistryChanged =
  'The first or the last server with "credentials" of people was added or removed: restart claudikins to use the config.';

export interface ReloadOptions {
  choice: ConfigChoice;
  /** Loads the config as a new process would. Throws as `loadConfig` does. */
  load: () => Promise<Config>;
  /** Everything that the config was loaded from. */
  files: Watched;
}

/** The part of an app whose config changes. */
interface Changing {
  readonly config: Config;
  readonly log: Log;
  /** Uses the servers and limits of another config from now on. Returns the names of the servers that are not the same. */
  take(config: Config): string[];
}

export class ConfigReload implements Disposable {
  readonly #app: Changing;
  readonly #options: ReloadOptions;
  /** Why the current config file is not in use. Undefined if it is. */
  problem: string | undefined;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(app: Changing, options: ReloadOptions) {
    this.#app = app;
    this.#options = options;
  }

  /** Loads the config if a file has changed. Never rejects. */
  refresh(): Promise<void> {
    this.#running ??= this.#refresh().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Checks every second, also without calls, until disposed of. */
  watch(): void {
    this.#timer ??= setInterval(() => void this.refresh(), configLookMs).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #refresh(): Promise<void> {
    // A problem may be solved without a change of the files, for example by `claudikins trust`.
    if (!this.#options.files.hasChanged() && this.problem === undefined) return;
    this.problem = await this.#problemOfTaking();
    if (this.problem !== undefined) this.#app.log.warn(this.problem);
  }

  async #problemOfTaking(): Promise<string | undefined> {
    const { config } = this.#app;
    try {
      const { choice, load } = this.#options;
      const now = fileOf(discoverConfig(choice));
      const before = fileOf(config.origin);
      if (now !== before) return `The config is now ${now}, not ${before}: restart claudikins in the agent to use it.`;
      const loaded = await load();
      // The registry of a person stays as at the start, and must not become a shared one.
      if (config.person && loaded.folders.registry !== config.folders.registry) return ownRegistryChanged;
      const changed = this.#app.take(loaded);
      if (changed.length > 0) this.#app.log.info(`the config has changed: ${changed.join(", ")}`);
      return undefined;
    } catch (thrown) {
      // Behind a door, and for a person, a mistake in another part of the file must not be seen.
      const why =
        config.door === undefined && !config.person
          ? toClaudikinsError(thrown).text
          : "The user can see why: claudikins doctor";
      return `The changed config is not used; the servers from before the change stay active. ${why}`;
    }
  }
}

const fileOf = (origin: ConfigOrigin) => (origin.kind === "demo" ? "the built-in demo" : origin.file);
