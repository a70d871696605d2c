/** The format of saved programs, which decides whether this build can continue a program that another build has saved. */
import { builtIn } from "./built-in.ts";
import { version } from "./version.ts";

/**
 * Raise the number by one when programs that earlier builds have saved can no longer be continued:
 *
 * - The engine or the guest's script has changed at all, even by a newer version of Bun that bundles it. A saved program is only the
 *   memory that differs from a fresh engine's, so every byte of the fresh memory must be the same.
 * - The host's part of a program, or the form of saved memory, has changed so that this build cannot read the data of others.
 *
 * `test/programs/program-format.test.ts` fails for such a change. The cost of a higher number: each user's earlier executable is kept for
 * as long as a program that it has saved waits. The cost of a number that was not raised: such programs continue over a wrong memory, and
 * crash.
 */
const sourceFormat = 1;

/** The build can choose another one for tests. */
export const programFormat: number = builtIn?.programFormat ?? sourceFormat;

/** Names this build: the version, for people, and the format. Stored with each program. */
export const buildMark = `${version} ${programFormat}`;

/** The format in a mark. The result is safe as a file name, whatever the mark is. */
export function formatOf(mark: string): string {
  return /\d+$/.exec(mark)?.[0] ?? "unknown";
}
