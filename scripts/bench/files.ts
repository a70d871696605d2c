/** Generated tool files as programs: the first call, which starts everything, and the next one with a warm daemon. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../test/support/claudikins.ts";
import { strippingNode } from "../../test/support/node.ts";
import { inTurn, processMs } from "./measure.ts";
import { type Row, rowOf, within } from "./report.ts";
import type { Measure } from "./section.ts";

/** A first call takes a second or two. */
const maxRounds = 10;

/** The entry as people write it in their configs, installed in advance. */
const everything = {
  command: "npx",
  args: ["--no-install", "@modelcontextprotocol/server-everything", "stdio"],
  cwd: root,
  category: "bench",
};

export const measureFiles: Measure = async ({ binary, rounds, folder }) => {
  const cwd = folder({ everything });
  await processMs([binary, "gen"], cwd);
  const file = join(cwd, ".claudikins", "registry", "bench", "everything", "echo.ts");
  if (!existsSync(file)) throw new Error("gen did not write echo.ts");
  const stop = () => processMs([binary, "daemon", "stop", "--now"], cwd);
  const rowUnder = async (name: string, runtime: string): Promise<Row> => {
    const call = () => processMs([runtime, file, '{"message":"x"}'], cwd);
    const times = await inTurn(rounds(maxRounds), {
      ours: call,
      "runtime alone": () => processMs([runtime, "-e", "0"], cwd),
      // Measured last in a round, so that the next round's call finds what it started.
      "first call": async () => {
        await stop();
        return call();
      },
    });
    return rowOf(`everything.echo under ${name}, second call`, times);
  };
  try {
    const rows = [within(await rowUnder("Bun", process.execPath), "first call", 0.1)];
    if (strippingNode) rows.push(await rowUnder("Node", strippingNode));
    return {
      rows,
      notes: [
        "Each call is a new process. The first call starts the daemon, and the server with npx.",
        strippingNode
          ? "Node spends most of this time loading its type stripper, before any generated code runs, so this row has no target."
          : "No Node of 22.18 or later is here.",
      ],
    };
  } finally {
    await stop();
  }
};
