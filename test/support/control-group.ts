/** Control groups with a memory limit, as Linux gives them to containers. */
import { mkdtempSync, rmdirSync, writeFileSync } from "node:fs";

/** Control groups have two versions. */
const kinds = [
  { root: "/sys/fs/cgroup/memory", limit: "memory.limit_in_bytes" },
  { root: "/sys/fs/cgroup", limit: "memory.max" },
];

export interface ControlGroup extends Disposable {
  /** The command, so that its process and the processes that it starts are in the group. */
  inside(command: readonly string[]): string[];
}

/** A group whose processes together have a limit. They must have ended when it is disposed. Undefined if this user may not make one. */
export function controlGroup(bytes: number): ControlGroup | undefined {
  for (const { root, limit } of kinds) {
    try {
      const path = mkdtempSync(`${root}/claudikins-test-`);
      const remove = () => rmdirSync(path);
      try {
        writeFileSync(`${path}/${limit}`, String(bytes), { flag: "r+" });
        const enter = ["sh", "-c", 'echo $$ > "$0"; exec "$@"', `${path}/cgroup.procs`];
        return { inside: (command) => [...enter, ...command], [Symbol.dispose]: remove };
      } catch {
        remove();
      }
    } catch {
      // This user may not make one here.
    }
  }
  return undefined;
}

const isPossible = (() => {
  using group = controlGroup(2 ** 30);
  return group !== undefined;
})();

/** For the titles of tests that are skipped. */
export const controlGroupNote = isPossible ? "" : " (skipped: needs a control group with a memory limit)";
