/** A person who approves and denies calls on the page, as shown there. */
import { type Cookies, cookieText, PersonHosts } from "../../../test/support/person-hosts.ts";
import type { Random } from "../random.ts";
import { kindOfThrown } from "./errors.ts";
import type { Oracle } from "./oracle.ts";
import type { Site } from "./site.ts";

interface Shown {
  id: string;
  args: string;
  person?: { id: string };
  state: string;
}

/** The pause between two looks at the page. */
const lookMs = 1_000;

const approvedShare = 0.8;

export class Approver {
  readonly #subject: string;
  readonly #random: Random;
  readonly #site: Site;
  readonly #oracle: Oracle;
  readonly #hosts: PersonHosts;
  #cookies: Cookies = new Map();

  constructor(subject: string, random: Random, site: Site, oracle: Oracle) {
    this.#subject = subject;
    this.#random = random;
    this.#site = site;
    this.#oracle = oracle;
    this.#hosts = new PersonHosts(site.balancer.origin, () => site.provider);
  }

  async workUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#look();
      } catch (error) {
        this.#oracle.saw(kindOfThrown(error), this.#subject, String(error));
      }
      await Bun.sleep(lookMs * (0.5 + this.#random.next()));
    }
  }

  async #look(): Promise<void> {
    if (this.#cookies.size === 0) {
      const { status } = await this.#hosts.browse(`${this.#site.balancer.origin}/ui/`, this.#cookies, this.#subject);
      if (status !== 200) {
        this.#cookies = new Map();
        throw Object.assign(new Error(`the page answers ${status}`), { status });
      }
      this.#oracle.did("sign-in of an approver");
    }
    const { approvals } = (await this.#ask("api/state")) as { approvals: Shown[] };
    for (const { id } of approvals) await this.#decide(id);
  }

  async #decide(id: string): Promise<void> {
    const { args, person, state } = (await this.#ask(`api/approvals/${id}`)) as Shown;
    const { key } = JSON.parse(args) as { key: string };
    if (state !== "open") return;
    // The answer to an earlier decision may have been lost, or another approver decides at this moment.
    const verdict = this.#oracle.verdictOf(key) ?? (this.#random.chance(approvedShare) ? "approved" : "denied");
    this.#oracle.decides(key, person?.id ?? "", verdict);
    const decided = await this.#ask(`api/approvals/${id}`, { decision: verdict === "approved" ? "once" : "deny" });
    if (decided) this.#oracle.did(verdict);
  }

  /** Undefined if it was decided already. */
  async #ask(path: string, body?: object): Promise<unknown> {
    const { origin } = this.#site.balancer;
    const own = { origin, "claudikins-ui": "1", "content-type": "application/json" };
    const headers = { cookie: cookieText(this.#cookies), "sec-fetch-site": "same-origin", ...(body ? own : {}) };
    const response = await fetch(`${origin}/ui/${path}`, {
      headers,
      ...(body ? { method: "POST", body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    this.#oracle.noToken(this.#subject, text);
    if (response.ok) return JSON.parse(text);
    if (response.status === 409) return undefined;
    if (response.status === 401) this.#cookies = new Map();
    throw Object.assign(new Error(`${path}: ${response.status} ${text.slice(0, 300)}`), { status: response.status });
  }
}
