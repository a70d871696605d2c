/** The memory of `serve` and the daemon: before the first execution, after many, and after a minute without any. */
import { type Host, startHost } from "./host.ts";
import { privateMb, residentMb } from "./measure.ts";
import { type Row, under } from "./report.ts";
import type { Bench } from "./section.ts";

const executions = 100;

const code = `const { orders } = await demo.list_orders({ limit: 50 });
console.log(orders.length);
return orders.slice(0, 3);`;

/** Memory is given back after a minute, and the collector's threads end a few seconds later. */
const idleMs = 70_000;

/** Time for `serve` to load the rest of itself after its first answers. */
const startingMs = 3_000;

/** The most that `serve` may hold at rest. */
const limitMb = 60;

interface Subject {
  name: string;
  pid: number;
}

export class AtRest implements AsyncDisposable {
  readonly #hosts: Host[] = [];
  readonly #rows: Row[] = [];
  readonly #subjects: Subject[] = [];
  #idleFrom = 0;

  /** Starts one `serve` with the daemon and one without, and runs the executions. The idle minute begins then. */
  async run({ binary, folder }: Bench): Promise<void> {
    const without = await this.#host("serve without the daemon", binary, folder(), ["--no-daemon"]);
    const cwd = folder();
    const beside = await this.#host("serve with the daemon", binary, cwd);
    await Bun.sleep(startingMs);
    this.#measure("before the first execution");
    for (let count = 0; count < executions; count++) {
      await without.execute(code);
      await beside.execute(code);
    }
    this.#subjects.push({ name: "the daemon", pid: await daemonPid(binary, cwd) });
    this.#measure(`after ${executions} executions`);
    this.#idleFrom = performance.now();
  }

  /** Waits for the end of the idle minute. */
  async rows(): Promise<Row[]> {
    await Bun.sleep(Math.max(0, this.#idleFrom + idleMs - performance.now()));
    this.#measure("after an idle minute", limitMb);
    return this.#rows;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host[Symbol.asyncDispose]()));
    const daemon = this.#subjects.find(({ name }) => name === "the daemon");
    if (daemon) process.kill(daemon.pid);
  }

  async #host(name: string, ...command: Parameters<typeof startHost>): Promise<Host> {
    const host = await startHost(...command);
    this.#hosts.push(host);
    this.#subjects.push({ name, pid: host.pid });
    return host;
  }

  #measure(when: string, atMostMb?: number): void {
    for (const { name, pid } of this.#subjects) {
      const others = { private: { value: privateMb(pid) } };
      const row: Row = { what: `${name}, ${when}`, unit: "MB", ours: residentMb(pid), others, counted: "once" };
      this.#rows.push(atMostMb === undefined ? row : under(row, atMostMb));
    }
  }
}

async function daemonPid(binary: string, cwd: string): Promise<number> {
  const options = { cwd, env: process.env, stderr: "inherit" } as const;
  const text = await Bun.spawn([binary, "daemon", "status", "--json"], options).stdout.text();
  const { daemons } = JSON.parse(text) as { daemons: { pid: number; config: string | null }[] };
  const daemon = daemons.find(({ config }) => config === null);
  if (!daemon) throw new Error("the daemon of the demo does not run");
  return daemon.pid;
}
