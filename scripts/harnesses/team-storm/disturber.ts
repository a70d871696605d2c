/** Makes the disturbances of a plan, each at its time. */
import type { Disturbance } from "./plan.ts";
import type { Replicas } from "./replicas.ts";
import type { Site } from "./site.ts";

/** A disturbance that was made. Times are in milliseconds since 1970. */
export interface Made {
  kind: Disturbance["kind"];
  from: number;
  /** When its effect had ended. Undefined until then. */
  to?: number;
}

export class Disturber {
  readonly #site: Site;
  readonly #replicas: Replicas;
  /** The usual number of replicas. */
  readonly #usual: number;
  readonly #report: (line: string) => void;
  readonly made: Made[] = [];

  constructor(site: Site, replicas: Replicas, usual: number, report: (line: string) => void) {
    this.#site = site;
    this.#replicas = replicas;
    this.#usual = usual;
    this.#report = report;
  }

  /** Resolves when the last effect has ended. */
  async run(plan: readonly Disturbance[]): Promise<void> {
    const beginning = Date.now();
    const running = plan.map(async (disturbance) => {
      await Bun.sleep(Math.max(0, beginning + disturbance.atMs - Date.now()));
      const made: Made = { kind: disturbance.kind, from: Date.now() };
      if (!(await this.#make(disturbance, made))) return;
      made.to = Date.now();
      this.#report(`${((made.to - beginning) / 1_000).toFixed(1)} s: over is ${disturbance.kind}`);
    });
    await Promise.all(running);
  }

  /** Returns false if there is no replica for it. */
  async #make({ kind, atMs, forMs, which }: Disturbance, made: Made): Promise<boolean> {
    const { postgres, database } = this.#site;
    const { serving } = this.#replicas;
    const replica = serving[Math.floor(which * serving.length)];
    // The last of several replicas is left alone: without any, a storm only shows that nobody answers.
    const isOneLess = kind === "kill" || kind === "freeze" || kind === "drain";
    if (isOneLess && (replica === undefined || (serving.length === 1 && this.#usual > 1))) return false;
    this.made.push(made);
    const of = isOneLess ? ` of the replica at ${replica!.port}` : "";
    this.#report(`${(atMs / 1_000).toFixed(1)} s: ${kind}${of}${kind === "freeze" ? ` for ${forMs / 1_000} s` : ""}`);
    switch (kind) {
      case "kill":
        await this.#replicas.kill(replica!);
        await Bun.sleep(forMs);
        await this.#replicas.start();
        break;
      case "freeze":
        await this.#replicas.freeze(replica!, forMs);
        break;
      case "drain":
        await this.#replicas.drain(replica!);
        await this.#replicas.start();
        break;
      case "add": {
        await this.#replicas.start();
        await Bun.sleep(2 * forMs);
        const [extra] = this.#replicas.serving.slice(-1);
        if (extra && this.#replicas.serving.length > 1) await this.#replicas.drain(extra);
        break;
      }
      case "restart of the database":
        await postgres.restart();
        break;
      case "cut":
        await postgres.cut(database);
    }
    return true;
  }
}
