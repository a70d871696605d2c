/** The parts of the daemon's config that are behind doors. Each is opened when a call or a program needs it. */
import type { App } from "../app/app.ts";
import type { Executions } from "../programs/executions.ts";

export class DoorApps {
  readonly #open: (door: string) => Promise<App>;
  readonly #opening = new Map<string, Promise<App>>();
  readonly #opened: { app: App; executions: Executions }[] = [];

  constructor(open: (door: string) => Promise<App>) {
    this.#open = open;
  }

  /** Throws what loading the config throws, such as DOOR_NOT_FOUND. Such a door is not tried again: a changed config ends the daemon. */
  of(door: string): Promise<App> {
    const opening = this.#opening.get(door) ?? this.#openNow(door);
    this.#opening.set(door, opening);
    return opening;
  }

  async #openNow(door: string): Promise<App> {
    const app = await this.#open(door);
    this.#opened.push({ app, executions: await app.executions() });
    return app;
  }

  /** The doors that are open. */
  get apps(): App[] {
    return this.#opened.map(({ app }) => app);
  }

  /** The executions behind them. */
  get executions(): Executions[] {
    return this.#opened.map(({ executions }) => executions);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#opening.values());
    await Promise.all(this.#opened.map(({ app }) => app[Symbol.asyncDispose]()));
  }
}
