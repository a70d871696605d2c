/**
 * The accepted definitions of a config's servers. The code for comparing is loaded with the first list of tools, so that it does not delay
 * the start.
 */
import type { ServerConfig } from "../../config/load.ts";
import type { ListedTool } from "../../servers/result.ts";
import type { Checked, CheckerOptions, CheckOptions, DefinitionChecker } from "./checker.ts";
import { acceptedMark, placeOf } from "./place.ts";

export class AcceptedDefinitions {
  readonly #options: CheckerOptions;
  #checker: Promise<DefinitionChecker> | undefined;

  constructor(options: CheckerOptions) {
    this.#options = options;
  }

  /** Whether something may have been accepted since tools of the server were held with this mark. */
  isReviewed(server: ServerConfig | undefined, mark: string): boolean {
    const place = server && placeOf(server, this.#options);
    return place === undefined || acceptedMark(place) !== mark;
  }

  /** Compares a list of tools with the accepted definitions. Undefined if the server's are not compared. Throws CONFIG_INVALID, VERSION_TOO_OLD and FILE_NOT_WRITABLE. */
  async check(server: ServerConfig, tools: readonly ListedTool[], options: CheckOptions): Promise<Checked | undefined> {
    if (!placeOf(server, this.#options)) return undefined;
    this.#checker ??= import("./checker.ts").then((loaded) => new loaded.DefinitionChecker(this.#options));
    return (await this.#checker).check(server, tools, options);
  }
}
