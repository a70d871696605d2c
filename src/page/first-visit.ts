/** The first steps on the page of a home without a config: a program with the demo, and the import of the servers of agents. */

import { homeOf } from "../config/locations.ts";
import { importServers, plannedImport } from "../setup/agents/import-servers.ts";
import { RefusedRequest } from "./guard.ts";
import { pageCheckMs } from "./limits.ts";
import type { PageParts } from "./parts.ts";
import type { PageImport, PageImported } from "./servers-contract.ts";

/** The program that the page offers on a first visit. It reads 1 MB, and a few lines come back. */
export const firstProgram = `// Countries with the most revenue in the demo shop
const { orders } = await demo.list_orders({ limit: 2400 });
const revenue = {};
for (const { country, total_cents } of orders) {
  revenue[country] = (revenue[country] ?? 0) + total_cents / 100;
}
return Object.entries(revenue)
  .sort(([, one], [, other]) => other - one)
  .slice(0, 3)
  .map(([country, sum]) => \`\${country}: \${Math.round(sum)}\`);
`;

export class FirstVisit {
  readonly #options: PageParts;

  constructor(options: PageParts) {
    this.#options = options;
  }

  /** Runs the first program with the demo server. Throws RefusedRequest with another config. */
  async demo(): Promise<{ execution: string }> {
    if (this.#options.app.config.origin.kind !== "demo") {
      throw new RefusedRequest(409, "The demo is there without a config only");
    }
    return { execution: await this.#options.background.start({ source: firstProgram, door: undefined }) };
  }

  preview(): Promise<PageImport> {
    return plannedImport(this.#surroundings());
  }

  /** Imports what was shown. Throws if it has changed. */
  async import({ mark, withAgents }: { mark: string; withAgents: boolean }): Promise<PageImported> {
    const signal = AbortSignal.timeout(pageCheckMs);
    const options = { surroundings: this.#surroundings(), withAgents, signal, place: "page" } as const;
    const { file, applied } = await importServers(mark, options);
    await this.#options.app.reload?.refresh();
    return {
      movedTo: await this.#options.background.pageOf(file),
      changed: applied.flatMap(({ host, error }) => (error ? [] : [host])),
      problems: applied.flatMap(({ error }) => (error ? [error.message] : [])),
    };
  }

  /** The agents' settings of a project are not looked for: a page has no folder. */
  #surroundings() {
    const { env } = this.#options;
    return { env, platform: process.platform, cwd: homeOf(env) };
  }
}
