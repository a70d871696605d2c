/** An agent of the older era on stdin and stdout: answers questions late, twice, and again later, and answers ids that nobody has asked with. */
import type { Random } from "../../random.ts";
import type { Elicitation, Person } from "../person.ts";
import { timed } from "../waits.ts";
import { type Agent, type CallOptions, textOf } from "./agent.ts";
import { type Message, Wire } from "./wire.ts";

/** Times in milliseconds after which a question is answered. */
const delays = [0, 0, 20, 100, 300];

export class OlderAgent implements Agent, AsyncDisposable {
  readonly #wire: Wire;
  readonly #person: Person;
  /** The ids of questions that were answered already. */
  readonly #answered: (number | string)[] = ["none"];
  /** The answers are random while a call has this. */
  #random: Random | undefined;

  constructor(command: string[], options: { cwd: string; env: object }, person: Person) {
    this.#person = person;
    this.#wire = new Wire(command, options, (message) => void this.#received(message));
  }

  async start(capabilities: object = { elicitation: {}, sampling: {}, roots: {} }): Promise<void> {
    const clientInfo = { name: "fuzz", version: "1" };
    await this.#wire.request("initialize", { protocolVersion: "2025-06-18", capabilities, clientInfo });
    this.#wire.send({ method: "notifications/initialized" });
  }

  get pid(): number {
    return this.#wire.pid;
  }

  ping(): Promise<number> {
    return timed(() => this.#wire.request("ping"));
  }

  request(method: string, params: object): Promise<Message | undefined> {
    return this.#wire.request(method, params);
  }

  async call(name: string, args: object, { random, signal }: CallOptions = {}): Promise<string | undefined> {
    this.#random = random;
    const call = this.#wire.request("tools/call", { name, arguments: args, _meta: { progressToken: name } }, signal);
    return textOf(await call);
  }

  terminate(): Promise<number> {
    return this.#wire.terminate();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#wire[Symbol.asyncDispose]();
  }

  async #received({ id, method = "", params }: Message): Promise<void> {
    const random = this.#random;
    if (id === undefined) return;
    if (method === "ping") return this.#wire.send({ id, result: {} });
    if (!random) return this.#wire.send({ id, result: { action: "cancel" } });
    const result = this.#person.answer({ method, params } as Elicitation, random);
    if (!result) return this.#wire.send({ id, error: { code: -32_601, message: "no" } });
    if (random.chance(0.1)) this.#wire.send({ id: random.pick(["elicitation-1", "1", "x", -1, 1e6]), result });
    if (random.chance(0.2)) this.#wire.send({ id: random.pick(this.#answered), result });
    await Bun.sleep(random.pick(delays));
    this.#wire.send({ id, result });
    if (random.chance(0.2)) this.#wire.send({ id, result });
    this.#answered.push(id);
  }
}
