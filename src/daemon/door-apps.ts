/** The parts of the daemon's config for doors and for people. Each is opened when a call or a program needs it. */
import type { App } from "../app/app.ts";
import type { Executions } from "../programs/execution/executions.ts";
import type { ExecutionView } from "../programs/execution/stored-executions.ts";

export class DoorApps {
  readonly #open: (view: ExecutionView) => Promise<App>;
  readonly #opening = new Map<string, Promise<App>>();
  readonly #opened: { app: App; executions: Executions }[] = [];

  constructor(open: (view: ExecutionView) => Promise<App>) {
    this.#open = open;
  }

  /** Throws what loading the config throws, such as DOOR_NOT_FOUND. Such a door is not tried again: a changed config ends the daemon. */
  of(view: ExecutionView): Promise<App> {
    const key = viewKey(view);
    const opening = this.#opening.get(key) ?? this.#openNow(view);
    this.#opening.set(key, opening);
    return opening;
  }

  async #openNow(view: ExecutionView): Promise<App> {
    const app = await this.#open(view);
    this.#opened.push({ app, executions: await app.executions() });
    return app;
  }

  /** The parts that are open. */
  get apps(): App[] {
    return this.#opened.map(({ app }) => app);
  }

  /** Their executions. */
  get executions(): Executions[] {
    return this.#opened.map(({ executions }) => executions);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#opening.values());
    await Promise.all(this.#opened.map(({ app }) => app[Symbol.asyncDispose]()));
  }
}

/** A key that is the same for the same door and person. */
export function viewKey({ door, person }: ExecutionView): string {
  return JSON.stringify([door ?? null, person?.id ?? null]);
}
