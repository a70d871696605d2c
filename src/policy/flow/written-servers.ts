/**
 * Servers into which text of strangers was written, such as a memory or a folder: whoever reads from them later reads it, also in another
 * session.
 */
import type { LabelSessions } from "./label-sessions.ts";
import { strangersTextIn } from "./leaving.ts";
import type { Read, SessionReads } from "./session-reads.ts";

export class WrittenServers {
  readonly #sessions: LabelSessions;
  /** Tells the servers of one config from the servers of others. */
  readonly #config: string;
  readonly #known = new Map<string, readonly Read[]>();

  constructor(sessions: LabelSessions, config: string) {
    this.#sessions = sessions;
    this.#config = config;
  }

  /** Looks up what was written into the server. Undefined if that is known. */
  load(server: string): Promise<void> | undefined {
    if (this.#known.has(server)) return undefined;
    return this.#sessions.ofServer(this.#config, server).then((reads) => {
      if (!this.#known.has(server)) this.#known.set(server, reads);
    });
  }

  /** What whoever reads from the server reads, besides its own data. Empty if no stranger's text was written into it. */
  in(server: string): readonly Read[] {
    return this.#known.get(server) ?? [];
  }

  /** A call that changes something was made with these arguments. Undefined if nothing new has to be kept. */
  wrote(server: string, args: object, reads: SessionReads): Promise<void> | undefined {
    if (!reads.hasRead("untrusted")) return undefined;
    const source = strangersTextIn(args, reads);
    const before = this.in(server);
    if (source === undefined || before.some((each) => each.source.endsWith(` ${source}`))) return undefined;
    const added: Read[] = [{ label: "untrusted", source: `${server}, which was given text of ${source}` }];
    this.#known.set(server, [...before, ...added]);
    return this.#sessions.wroteServer(this.#config, server, added);
  }
}
