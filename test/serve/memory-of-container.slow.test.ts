/** In a container with little memory, programs that would need more wait for their turn. None fails. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { executable } from "../support/claudikins.ts";
import { controlGroup, controlGroupNote } from "../support/control-group.ts";
import { httpServe, sdkHost } from "../support/http-serve.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(180_000);

/** A script that takes memory, says so and waits. */
const taking = (mb: number) =>
  `const all = Buffer.alloc(${mb} * 1_048_576, 1); console.log("taken"); setInterval(() => all[0], 1_000)`;

test.skipIf(controlGroupNote !== "").each([0, 700])(
  `forty programs of 30 MB that sleep run in 1 GB, beside a process of %i MB${controlGroupNote}`,
  async (mb) => {
    using group = controlGroup(2 ** 30);
    using folder = temporaryFolder();
    folder.write("claudikins.json", JSON.stringify({ mcpServers: {} }));
    const other = Bun.spawn(group!.inside([process.execPath, "-e", taking(mb)]), { stdout: "pipe" });
    try {
      await other.stdout.getReader().read();
      await using serve = await httpServe(folder, [], { command: group!.inside([executable()]) });
      await using host = await sdkHost(serve.url);
      const code =
        "const all = []; for (let i = 0; i < 30; i++) all.push(new Uint8Array(1_048_576).fill(i + 1)); await sleep(1_000); return all.length";
      const answers = await Promise.all(Array.from({ length: 40 }, () => host.execute(code)));
      expect(answers).toEqual(answers.map(() => "30"));
      // The system would end the largest process first.
      expect(other.exitCode ?? other.signalCode).toBeNull();
    } finally {
      other.kill("SIGKILL");
      await other.exited;
    }
  },
);
