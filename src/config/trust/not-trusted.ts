/** The error for a config that is not trusted, with the data that is needed to ask a person about it. */
import { ClaudikinsError } from "../../base/errors.ts";
import { shellWord } from "../../base/shell-word.ts";
import type { ParsedConfig } from "../parse.ts";
import type { OwnServers } from "../user-config.ts";
import { enabledServers } from "./marks.ts";
import type { Trusted } from "./store.ts";

/** The data for the question to a person. */
export interface TrustRequest {
  file: string;
  text: string;
  config: ParsedConfig;
  /** The user's own servers that this config would use or replace. */
  own: OwnServers;
  /** The state that was trusted last. Undefined if the config was never trusted. */
  before: Trusted | undefined;
}

export class NotTrusted extends ClaudikinsError {
  /** Undefined if the config cannot be trusted, because other users own or can change the file. */
  readonly request: TrustRequest | undefined;

  constructor(message: string, hint: string, request?: TrustRequest) {
    super("CONFIG_NOT_TRUSTED", message, { hint });
    this.request = request;
  }

  static of(request: TrustRequest): NotTrusted {
    const { file, config, before } = request;
    const why = before ? "has changed since you trusted it" : "is not trusted yet";
    const servers = enabledServers(config);
    const programs = servers.filter(([, { url }]) => url === undefined).length;
    const count = (number: number, noun: string) => (number === 0 ? [] : [`${number} ${noun}${number > 1 ? "s" : ""}`]);
    const what = [...count(programs, "program"), ...count(servers.length - programs, "network server")];
    const has = what.length === 0 ? "" : ` It names ${what.join(" and ")}; nothing was started.`;
    return new NotTrusted(
      `The config ${file} ${why}.${has}`,
      `Review it and trust it: claudikins trust ${shellWord(file)}`,
      request,
    );
  }

  static foreign(file: string, problem: string, user: string | undefined): NotTrusted {
    const own = user === undefined ? "" : `; to use your own: --config ${shellWord(user)}`;
    return new NotTrusted(
      `The config ${file} ${problem}, so it is not used`,
      `To use it anyway: --config ${shellWord(file)}${own}`,
    );
  }
}
