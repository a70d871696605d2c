/** Shows the tools on the page that are held because their definitions changed, and accepts them. */
import type { App } from "../app/app.ts";
import { lineDifference } from "../base/line-difference.ts";
import type { Environment } from "../config/environment.ts";
import { digestOf } from "../config/trust/marks.ts";
import { definitionText } from "../tools/definitions/definition-text.ts";
import {
  acceptTools,
  heldServers,
  type ReviewedTool,
  recordsStamp,
  type Surroundings,
} from "../tools/definitions/review.ts";
import { Cached } from "./cached.ts";
import { driftOnPage } from "./drift.ts";
import { RefusedRequest } from "./guard.ts";
import type { PageHeld } from "./servers-contract.ts";

/** Lines of the difference between two definitions. `claudikins review` shows all. */
const maxShownDiffLines = 400;

export class HeldOnPage {
  readonly #app: App;
  readonly #env: Environment;
  readonly #surroundings: () => Surroundings;
  /** Cached, because the page asks for the numbers with each change, and reading the records of many tools takes 20 ms. */
  readonly #counts = new Cached<Map<string, number>>();

  constructor(app: App, env: Environment) {
    this.#app = app;
    this.#env = env;
    this.#surroundings = () => ({ config: app.config, env, cwd: app.cwd });
  }

  /** The number of held tools of each server that has some. */
  counts(): Map<string, number> {
    const surroundings = this.#surroundings();
    return this.#counts.get(recordsStamp(surroundings), () => {
      return new Map(heldServers(surroundings).map(({ server, tools }) => [server, tools.length]));
    });
  }

  async of(name: string): Promise<PageHeld> {
    const found = heldServers(this.#surroundings()).find(({ server }) => server === name);
    const { isUpgrade = false, before, now, tools = [] } = found ?? {};
    const programs = tools.length === 0 ? { text: "", broken: [] } : await driftOnPage(this.#app, this.#env, [name]);
    return { server: name, isUpgrade, before, now, tools: tools.map(shown), programs };
  }

  /** Accepts the tools as they were shown. Throws RefusedRequest if one has changed since. */
  async accept(name: string, marks: Readonly<Record<string, string>>): Promise<PageHeld> {
    const held = heldServers(this.#surroundings()).find(({ server }) => server === name);
    const chosen = (held?.tools ?? []).filter(({ tool }) => Object.hasOwn(marks, tool));
    if (chosen.some(({ tool, now }) => marks[tool] !== digestOf(now))) {
      throw new RefusedRequest(409, "The server has changed a tool once more since it was shown", "Look at it again.");
    }
    await acceptTools(chosen, this.#surroundings());
    return this.of(name);
  }
}

function shown({ tool, why, suspicions, before, now }: ReviewedTool): PageHeld["tools"][number] {
  const lines = lineDifference(before ? definitionText(before) : "", definitionText(now));
  return {
    tool,
    mark: digestOf(now),
    why,
    suspicions,
    isKnown: before !== undefined,
    lines: lines.slice(0, maxShownDiffLines),
    left: Math.max(0, lines.length - maxShownDiffLines),
  };
}
