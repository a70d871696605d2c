/** In a container with little memory, programs that would need more wait for their turn. None fails. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmdirSync, writeFileSync } from "node:fs";
import { executable } from "../support/claudikins.ts";
import { httpServe, sdkHost } from "../support/http-serve.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(180_000);

/** What Linux gives containers: a control group whose processes together have a limit, of version 1 or 2. */
const kinds = [
  { root: "/sys/fs/cgroup/memory", limit: "memory.limit_in_bytes" },
  { root: "/sys/fs/cgroup", limit: "memory.max" },
];

function controlGroup(bytes: number): ({ processes: string } & Disposable) | undefined {
  for (const { root, limit } of kinds) {
    try {
      const path = mkdtempSync(`${root}/claudikins-test-`);
      const remove = () => rmdirSync(path);
      try {
        writeFileSync(`${path}/${limit}`, String(bytes), { flag: "r+" });
        return { processes: `${path}/cgroup.procs`, [Symbol.dispose]: remove };
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
  using group = controlGroup(1_073_741_824);
  return group !== undefined;
})();
const note = isPossible ? "" : " (skipped: needs a control group with a memory limit)";

test.skipIf(!isPossible)(`forty programs of 30 MB that sleep run in 1 GB${note}`, async () => {
  using group = controlGroup(1_073_741_824);
  using folder = temporaryFolder();
  folder.write("claudikins.json", JSON.stringify({ mcpServers: {} }));
  const command = ["sh", "-c", 'echo $$ > "$0"; exec "$@"', group!.processes, executable()];
  await using serve = await httpServe(folder, [], { command });
  await using host = await sdkHost(serve.url);
  const code =
    "const all = []; for (let i = 0; i < 30; i++) all.push(new Uint8Array(1_048_576).fill(i + 1)); await sleep(1_000); return all.length";
  const answers = await Promise.all(Array.from({ length: 40 }, () => host.execute(code)));
  expect(answers).toEqual(answers.map(() => "30"));
});
