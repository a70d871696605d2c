/**
 * Servers into which text of strangers was written, such as a memory or a folder. Later reads from them return this text, even in another
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

  /** Looks up the strangers' text that was written into the server. Undefined if it is already known. */
  load(server: string): Promise<void> | undefined {
    if (this.#known.has(server)) return undefined;
    return this.#sessions.ofServer(this.#config, server).then((reads) => {
      if (!this.#known.has(server)) this.#known.set(server, reads);
    });
  }

  /** The reads that every read from the server includes, besides the server's own data. Empty if no stranger's text was written into it. */
  in(server: string): readonly Read[] {
    return this.#known.get(server) ?? [];
  }

  /** Records a call that changes something, with its arguments. Returns undefined if nothing new has to be stored. */
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
