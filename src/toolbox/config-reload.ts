/** Applies changes of the config file to a running process. `serve` checks for changes with each call. */

import { type ConfigChoice, type ConfigOrigin, discoverConfig } from "../config/discover.ts";
import type { Config } from "../config/load.ts";
import { userConfigFile } from "../config/locations.ts";
import { toClaudikinsError } from "../errors.ts";
import { statsOf } from "../files.ts";
import type { Log } from "../log.ts";

/** What uses the config: a toolbox. */
interface Reloaded {
  config: Config;
  log: Log;
  /** Uses another config from now on, and returns the names of the servers that changed. */
  take(config: Config): string[];
}

export interface ReloadOptions {
  choice: ConfigChoice;
  /** Loads the config as a new process would. Throws as `loadConfig` does. */
  load: () => Promise<Config>;
}

/** Interval between checks while watching. */
const lookMs = 1_000;

export class ConfigReload implements Disposable {
  readonly #reloaded: Reloaded;
  readonly #options: ReloadOptions;
  #mark: string;
  #problem: string | undefined;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** `mark` is the `configMark` from before the current config was loaded. */
  constructor(reloaded: Reloaded, options: ReloadOptions, mark = configMark(options.choice)) {
    this.#reloaded = reloaded;
    this.#options = options;
    this.#mark = mark;
  }

  /** Why the current config file is not in use. Undefined if it is. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Checks the files' times, and loads the config if they changed. Never rejects. */
  refresh(): Promise<void> {
    this.#running ??= this.#refresh().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Checks every second, also without calls, until disposed of. */
  watch(): void {
    this.#timer ??= setInterval(() => void this.refresh(), lookMs).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #refresh(): Promise<void> {
    const mark = configMark(this.#options.choice);
    // A problem may be solved without a change of the file, for example by `claudikins trust`.
    if (mark === this.#mark && this.#problem === undefined) return;
    this.#problem = await this.#problemOfTaking();
    this.#mark = mark;
    if (this.#problem !== undefined) this.#reloaded.log.warn(this.#problem);
  }

  async #problemOfTaking(): Promise<string | undefined> {
    const { config } = this.#reloaded;
    try {
      const { choice, load } = this.#options;
      const now = fileOf(discoverConfig(choice));
      const before = fileOf(config.origin);
      if (now !== before) return `The config is now ${now}, not ${before}: restart claudikins in the agent to use it.`;
      const changed = this.#reloaded.take(await load());
      if (changed.length > 0) this.#reloaded.log.info(`the config has changed: ${changed.join(", ")}`);
      return undefined;
    } catch (thrown) {
      const { message, hint } = toClaudikinsError(thrown);
      const why = [message, hint && `Hint: ${hint}`].filter(Boolean).join("\n");
      return `The changed config is not used; the servers from before the change stay active. ${why}`;
    }
  }
}

const fileOf = (origin: ConfigOrigin) => (origin.kind === "demo" ? "the built-in demo" : origin.file);

/**
 * A text that changes when another config file is found, or when one is written. The user's own config counts as well, because its
 * policy applies to projects.
 */
export function configMark(choice: ConfigChoice): string {
  let file: string | undefined;
  try {
    const origin = discoverConfig(choice);
    if (origin.kind !== "demo") file = origin.file;
  } catch (error) {
    return `none: ${toClaudikinsError(error).message}`;
  }
  const files = [file, userConfigFile(choice.env)].filter((each) => each !== undefined);
  return JSON.stringify(
    files.map((each) => {
      const { mtimeMs, ctimeMs, size, ino } = statsOf(each) ?? {};
      return [each, mtimeMs, ctimeMs, size, ino];
    }),
  );
}
