/** The clocks of processes: libfaketime lets each process read its own, from a file that says how far it is ahead. */
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Debian has it in `faketime`. */
const library = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"]
  .map((folder) => join(folder, "faketime", "libfaketimeMT.so.1"))
  .find(existsSync);

/** Seconds until a process reads its file again. */
const readAgainSeconds = 1;

export const hasClocks = library !== undefined;

export class Clock {
  readonly #file: string;
  #movedAt = 0;
  aheadMs = 0;

  constructor(file: string) {
    this.#file = file;
    this.move(0);
  }

  /** The time of the process, in milliseconds since 1970. */
  get now(): number {
    return Date.now() + this.aheadMs;
  }

  move(byMs: number): void {
    if (hasClocks) this.aheadMs += byMs;
    if (byMs !== 0) this.#movedAt = performance.now();
    writeFileSync(this.#file, `${this.aheadMs < 0 ? "" : "+"}${this.aheadMs / 1_000}\n`);
  }

  /** Waits until the process has read its file since the last move. Until then it may refuse the times of senders. */
  async isRead(): Promise<void> {
    if (this.#movedAt > 0) await Bun.sleep(Math.max(0, this.#movedAt + 2_000 * readAgainSeconds - performance.now()));
  }

  /** The variables of the process. */
  get env(): Record<string, string> {
    if (library === undefined) return {};
    return {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_CACHE_DURATION: String(readAgainSeconds),
      // Clocks that measure spans go on, as they do on a machine whose time is set.
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1",
    };
  }
}

/** A killed process leaves what its library shares with children. */
export function removeShared(pid: number): void {
  if (!existsSync("/dev/shm")) return;
  const names = readdirSync("/dev/shm").filter((name) => /faketime/.test(name) && name.endsWith(`_${pid}`));
  for (const name of names) rmSync(join("/dev/shm", name), { force: true });
}
