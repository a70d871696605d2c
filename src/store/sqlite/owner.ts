/** A process that runs stored executions. Others can tell whether it is alive, because the kernel releases the lock of a dead one. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { systemCodeOf } from "../../base/errors.ts";
import { isHeld, type Lock, takeLock } from "../../base/lock.ts";
import type { Owner } from "../replicas.ts";

const guarded = "the executions of this process";

const fileOf = (folder: string, name: string) => join(folder, `${name}.lock`);

export class LockOwner implements Owner {
  readonly name: string;
  readonly #folder: string;
  readonly #lock: Lock;

  private constructor(name: string, folder: string, lock: Lock) {
    this.name = name;
    this.#folder = folder;
    this.#lock = lock;
  }

  /** Throws FILE_NOT_WRITABLE. */
  static async take(folder: string): Promise<LockOwner> {
    const name = crypto.randomUUID();
    const lock = await takeLock(fileOf(folder, name), guarded);
    if (!lock) throw new Error("a random name was taken");
    return new LockOwner(name, folder, lock);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lock.release();
    remove(fileOf(this.#folder, this.name));
  }
}

/** Whether the process runs. Removes the lock of a dead one. Throws FILE_NOT_WRITABLE. */
export async function isOwnerAlive(folder: string, name: string): Promise<boolean> {
  const file = fileOf(folder, name);
  if (!existsSync(file)) return false;
  try {
    if (await isHeld(file, guarded)) return true;
  } catch (error) {
    // Others look at the same moment, and the first one removes the lock.
    if (existsSync(file)) throw error;
  }
  remove(file);
  return false;
}

/** Windows removes no file that is open, and another process may look at it. A file that stays is a lock without an owner. */
function remove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch (error) {
    if (systemCodeOf(error) !== "EBUSY") throw error;
  }
}
