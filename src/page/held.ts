/** Shows the tools on the page that are held because their definitions changed, and accepts them. */
import type { App } from "../app/app.ts";
import { messageOf } from "../base/errors.ts";
import { lineDifference } from "../base/line-difference.ts";
import type { Environment } from "../config/environment.ts";
import { digestOf } from "../config/trust/marks.ts";
import { checkServers } from "../tools/catalog/inventory.ts";
import { definitionText } from "../tools/definitions/definition-text.ts";
import {
  acceptTools,
  heldServers,
  type ReviewedServer,
  type ReviewedTool,
  recordsStamp,
  type Surroundings,
} from "../tools/definitions/review.ts";
import { Cached } from "./cached.ts";
import { RefusedRequest } from "./guard.ts";
import { pageCheckMs } from "./limits.ts";
import type { Background, PageParts } from "./parts.ts";
import { driftOnPage } from "./programs.ts";
import type { PageHeld } from "./servers-contract.ts";

/** Lines of the difference between two definitions. `claudikins review` shows all. */
const maxShownDiffLines = 400;

type HeldParts = Pick<PageParts, "app" | "env" | "openRunning"> & { background: Pick<Background, "relist"> };

export class HeldOnPage {
  readonly #app: App;
  readonly #env: Environment;
  readonly #openRunning: () => Promise<App>;
  readonly #background: Pick<Background, "relist">;
  readonly #surroundings: () => Surroundings;
  /** Cached, because the page asks for the numbers with each change, and reading the records of many tools takes 20 ms. */
  readonly #names = new Cached<Map<string, string[]>>();
  /** The listings that are under way, by server. */
  readonly #listings = new Map<string, Promise<void>>();

  constructor({ app, env, openRunning, background }: HeldParts) {
    this.#app = app;
    this.#env = env;
    this.#openRunning = openRunning;
    this.#background = background;
    this.#surroundings = () => ({ config: app.config, env, cwd: app.cwd });
  }

  /**
   * The names of the held tools of each server that has some. A server is listed again in the background if another process has accepted one of its
   * tools.
   */
  names(): Map<string, string[]> {
    const surroundings = this.#surroundings();
    return this.#names.get(recordsStamp(surroundings), () => {
      const all = heldServers(surroundings);
      for (const server of this.#acceptedElsewhere(all)) {
        this.listAgain(server).catch((error: unknown) =>
          this.#app.log.debug(`${server}: cannot refresh its tools: ${messageOf(error)}`),
        );
      }
      return new Map(all.map(({ server, tools }) => [server, tools.map(({ tool }) => tool)]));
    });
  }

  /** The servers of which the page lacks tools that are no longer held. */
  #acceptedElsewhere(held: readonly ReviewedServer[]): string[] {
    const { catalog, config } = this.#app;
    return [...config.servers.keys()].filter((name) => {
      const still = new Set(held.find(({ server }) => server === name)?.tools.map(({ tool }) => tool));
      return catalog.held(name)?.tools.some((tool) => !still.has(tool.name)) === true;
    });
  }

  async of(name: string): Promise<PageHeld> {
    const found = heldServers(this.#surroundings()).find(({ server }) => server === name);
    const { isUpgrade = false, before, now, tools = [] } = found ?? {};
    const programs = tools.length === 0 ? { text: "", broken: [] } : await driftOnPage(this.#app, this.#env, [name]);
    return { server: name, isUpgrade, before, now, tools: tools.map(shown), programs };
  }

  /**
   * Accepts the tools as they were shown, and makes all processes list the running server again. A tool is held once more if the server still lists its former
   * definition. Throws RefusedRequest if one has changed since.
   */
  async accept(name: string, marks: Readonly<Record<string, string>>): Promise<PageHeld> {
    const held = heldServers(this.#surroundings()).find(({ server }) => server === name);
    const chosen = (held?.tools ?? []).filter(({ tool }) => Object.hasOwn(marks, tool));
    if (chosen.some(({ tool, now }) => marks[tool] !== digestOf(now))) {
      throw new RefusedRequest(409, "The server has changed a tool once more since it was shown", "Look at it again.");
    }
    await acceptTools(chosen, this.#surroundings());
    if (chosen.length > 0) {
      // A daemon of an earlier version cannot do this.
      await this.#background.relist(name).catch((error: unknown) => this.#app.log.debug(messageOf(error)));
      await this.listAgain(name);
    }
    return this.of(name);
  }

  /** Lists the running server, or else starts it, so that the page has its tools. A server that fails is listed with its next use. */
  listAgain(name: string): Promise<void> {
    const listing = this.#listings.get(name) ?? this.#list(name).finally(() => this.#listings.delete(name));
    this.#listings.set(name, listing);
    return listing;
  }

  async #list(name: string): Promise<void> {
    const { catalog, config } = this.#app;
    await using running = await this.#openRunning();
    await checkServers(running, { signal: AbortSignal.timeout(pageCheckMs), only: [name] });
    const listed = running.catalog.find(name);
    if (listed && config.servers.has(name)) catalog.takeListed(listed);
  }
}

function shown({ tool, why, suspicions, before, now, isReplaced }: ReviewedTool): PageHeld["tools"][number] {
  const lines = lineDifference(before ? definitionText(before) : "", definitionText(now));
  return {
    tool,
    mark: digestOf(now),
    why,
    suspicions,
    isKnown: before !== undefined,
    isReplaced,
    lines: lines.slice(0, maxShownDiffLines),
    left: Math.max(0, lines.length - maxShownDiffLines),
  };
}
