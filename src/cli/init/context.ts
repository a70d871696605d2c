/** What the parts of `claudikins init` need to know of its command line, how they write to the user, and how they keep a secret. */
import { messageOf } from "../../base/errors.ts";
import { KeychainFailure } from "../../base/keychain.ts";
import { setSecret } from "../../config/secrets/store.ts";
import type { AgentSurroundings } from "../../setup/agents/supported/model.ts";
import type { Io } from "../io.ts";
import { canAsk } from "../terminal/prompt.ts";
import { warningLabel } from "../terminal/terminal-output.ts";

export interface InitContext {
  io: Io;
  surroundings: AgentSurroundings;
  isJson: boolean;
  /** Nothing is written, not even logs. */
  isDry: boolean;
  /** Whether the user can be asked. */
  asks: boolean;
  /** Whether the user has agreed to all changes. */
  isAgreed: boolean;
  /** Agents that the user named. */
  named: ReadonlySet<string>;
  /** Writes to stdout, for people. */
  show(text: string): Promise<void>;
  /** Writes to stderr, for people. */
  say(text: string): Promise<void>;
}

interface InitFlags {
  apply?: boolean | undefined;
  "dry-run"?: boolean | undefined;
  json?: boolean | undefined;
  host: string[];
}

export function contextOf({ apply, "dry-run": dryRun, json, host }: InitFlags, io: Io): InitContext {
  const isDry = dryRun === true;
  const isJson = json === true;
  return {
    io,
    surroundings: { env: io.env, platform: process.platform, cwd: io.cwd },
    isJson,
    isDry,
    asks: canAsk(io) && !isJson && !isDry,
    isAgreed: apply === true,
    named: new Set(host),
    show: async (text) => void (isJson || (await io.stdout.write(text))),
    say: async (text) => void (isJson || (await io.stderr.write(text))),
  };
}

/** Keeps a value of an imported entry as a secret of the user. Returns false if the keychain does not answer. */
export async function keepSecret(name: string, value: string, { io, say }: InitContext): Promise<boolean> {
  try {
    const { why } = await setSecret(name, value, { env: io.env });
    const where = why === undefined ? "the system's keychain" : `a file that only you can read: the keychain ${why}`;
    await say(`Set ${name} in ${where}\n`);
    return true;
  } catch (error) {
    if (!(error instanceof KeychainFailure)) throw error;
    await say(`${warningLabel} the keychain ${messageOf(error)}, so ${name} stays in the config\n`);
    return false;
  }
}
