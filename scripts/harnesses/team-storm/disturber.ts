/** Makes the disturbances of a plan, each at its time. */
import { executable } from "../../../test/support/claudikins.ts";
import { executeRequest, rawSession } from "../../../test/support/http-serve.ts";
import { runProgram, testEnvironment } from "../../../test/support/process.ts";
import type { Disturbance } from "./plan.ts";
import type { Replicas } from "./replicas.ts";
import { doorOf, type Site, subjectOf } from "./site.ts";

/** A disturbance that was made. Times are in milliseconds since 1970. */
export interface Made {
  kind: Disturbance["kind"];
  /** The kind, and the replica or the table. */
  name: string;
  from: number;
  /** When its effect had ended. Undefined until then. */
  to?: number;
}

/** Time in which the open request of a revoked person is answered. */
const revokedWithinMs = 5_000;

const late = { text: "nothing", at: Number.POSITIVE_INFINITY };

interface DisturberOptions {
  site: Site;
  replicas: Replicas;
  /** The usual number of replicas. */
  usual: number;
  people: number;
  report: (line: string) => void;
  fail: (kind: string, more: string) => void;
}

export class Disturber {
  readonly #site: Site;
  readonly #replicas: Replicas;
  readonly #usual: number;
  readonly #report: (line: string) => void;
  readonly #people: number;
  readonly #fail: (kind: string, more: string) => void;
  readonly made: Made[] = [];

  constructor({ site, replicas, usual, people, report, fail }: DisturberOptions) {
    this.#site = site;
    this.#replicas = replicas;
    this.#usual = usual;
    this.#people = people;
    this.#report = report;
    this.#fail = fail;
  }

  /** Resolves when the last effect has ended. */
  async run(plan: readonly Disturbance[]): Promise<void> {
    const beginning = Date.now();
    const running = plan.map(async (disturbance) => {
      await Bun.sleep(Math.max(0, beginning + disturbance.atMs - Date.now()));
      const made: Made = { kind: disturbance.kind, name: disturbance.kind, from: Date.now() };
      if (!(await this.#make(disturbance, made))) return;
      made.to = Date.now();
      this.#report(`${((made.to - beginning) / 1_000).toFixed(1)} s: over is ${made.name}`);
    });
    await Promise.all(running);
  }

  /** Returns false if there is no replica for it. */
  async #make({ kind, atMs, forMs, which, table }: Disturbance, made: Made): Promise<boolean> {
    const { postgres, database } = this.#site;
    const { serving } = this.#replicas;
    const replica = serving[Math.floor(which * serving.length)];
    // The last of several replicas is left alone: without any, a storm only shows that nobody answers.
    const isOneLess = kind === "kill" || kind === "freeze" || kind === "drain";
    if (isOneLess && (replica === undefined || (serving.length === 1 && this.#usual > 1))) return false;
    this.made.push(made);
    if (isOneLess) made.name += ` of the replica at ${replica!.port}`;
    if (table !== undefined) made.name += ` of ${table}`;
    const long = kind === "freeze" || kind === "lock" ? ` for ${forMs / 1_000} s` : "";
    this.#report(`${(atMs / 1_000).toFixed(1)} s: ${made.name}${long}`);
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
        break;
      case "lock": {
        const lock = `LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE; PERFORM pg_sleep(${forMs / 1_000})`;
        await postgres.run(database, `DO $$ BEGIN ${lock}; END $$`);
        break;
      }
      case "revoke":
        await this.#revoke(Math.floor(which * this.#people));
    }
    return true;
  }

  /** Revokes a person whose request is open, and restores the person. */
  async #revoke(number: number): Promise<void> {
    const { balancer, provider, env, folder } = this.#site;
    const headers = { authorization: `Bearer ${await provider.token(subjectOf(number))}` };
    const session = await rawSession(`${balancer.origin}/${doorOf(number)}`, "2025-11-25", {}, "storm", headers);
    const open = await session.post(executeRequest(2, "await sleep(60_000)"));
    const people = async (what: string) => {
      const command = [executable(), "people", what, this.#site.personId(number)];
      const { exitCode, stderr } = await runProgram(command, { cwd: folder.path, env: testEnvironment(env) });
      if (exitCode !== 0) this.#fail(`people ${what} has failed`, stderr.slice(0, 300));
    };
    const answered = open.text().then(
      (text) => ({ text, at: performance.now() }),
      (error) => ({ text: String(error), at: performance.now() }),
    );
    await people("revoke");
    const revokedAt = performance.now();
    const { text, at } = await Promise.race([answered, Bun.sleep(revokedWithinMs).then(() => late)]);
    if (at - revokedAt > revokedWithinMs || !/"(?:error|result)":/.test(text))
      this.#fail("the open request of a revoked person got no answer in time", text.slice(0, 300));
    await people("restore");
  }
}
