/** `claudikins stats`: calls, tokens kept out of the context, and what leads agents to claudikins. */
import { ledgerFolder } from "../../config/locations.ts";
import { ClaudikinsError } from "../../errors.ts";
import { statisticsOf } from "../../ledger/statistics.ts";
import { readLedger, resetLedger } from "../../ledger/store.ts";
import { didYouMean } from "../../near-names.ts";
import type { Canvas } from "../chart.ts";
import { hasColours } from "../colours.ts";
import { command, commonArgs } from "../command.ts";
import { count } from "../flags.ts";
import type { Io } from "../io.ts";
import { hooksText, statsShape, statsText } from "../stats-text.ts";

const defaultDays = 14;

/** The ledger keeps single days for this long. */
const maxDays = 100;

export default command({
  description:
    "Show what was called in all your projects, and how many tokens stayed out of the context. The figures are sums from the ledger, which stores no contents.",
  args: {
    days: {
      type: "string",
      valueHint: "n",
      description: `Number of days to show, including today (default ${defaultDays})`,
      parse: count(maxDays),
    },
    all: { type: "boolean", description: "Show all figures; older ones are summed by month and year" },
    server: { type: "string", valueHint: "name", description: "Show only calls to this server", complete: "server" },
    hooks: {
      type: "boolean",
      description: "Show which text led agents to the registry, judged by the first access of each session",
    },
    reset: { type: "boolean", description: "Delete the ledger and start over" },
    ...commonArgs,
  },
  examples: ["claudikins stats", "claudikins stats --days 30 --server github", "claudikins stats --hooks --all --json"],
  json: statsShape,
  async run(args, io) {
    const folder = ledgerFolder(io.env);
    const { all, server, json } = args;
    if (args.reset) return reset(folder, args, io);
    if (all && args.days !== undefined) throw new ClaudikinsError("USAGE", "Use --days or --all, not both");
    if (args.hooks && server !== undefined) {
      throw new ClaudikinsError(
        "USAGE",
        "--hooks counts sessions, which have no server: it cannot be used with --server",
      );
    }
    const days = all ? undefined : (args.days ?? defaultDays);
    const now = new Date();
    const { periods, problems } = await readLedger(folder, now);
    const servers = new Set([...periods.values()].flatMap(({ tools }) => [...tools.keys()]));
    if (server !== undefined && !servers.has(server)) throw unknownServer(server, [...servers]);
    const { tokenizerFor } = await import("../tokenizer.ts");
    const tokenizer = await tokenizerFor(io, args.config);
    const statistics = statisticsOf(periods, { days, server, tokenizer, now });
    for (const problem of json ? [] : problems) await io.stderr.write(`warning: ${problem}\n`);
    if (json) await io.stdout.write(`${JSON.stringify({ ...statistics, problems })}\n`);
    else if (periods.size === 0) await io.stderr.write("Nothing has been counted yet.\n");
    else
      await io.stdout.write(
        args.hooks ? hooksText(statistics, canvasOf(io)) : statsText(statistics, server, canvasOf(io)),
      );
    return 0;
  },
});

async function reset(folder: string, args: Record<string, unknown>, io: Io): Promise<number> {
  const other = ["days", "all", "server", "hooks"].find((name) => args[name] !== undefined);
  if (other !== undefined)
    throw new ClaudikinsError("USAGE", `--reset deletes the whole ledger: it cannot be used with --${other}`);
  await resetLedger(folder);
  if (args["json"]) await io.stdout.write('{"reset":true}\n');
  else await io.stderr.write("The ledger is now empty.\n");
  return 0;
}

function unknownServer(server: string, servers: string[]): ClaudikinsError {
  return new ClaudikinsError("SERVER_NOT_FOUND", `There are no figures for a server called "${server}"`, {
    hint: didYouMean(server, servers) ?? `Servers with figures: ${servers.sort().join(", ") || "none"}`,
  });
}

function canvasOf(io: Io): Canvas {
  const { isTerminal, columns } = io.stdout;
  return { width: columns, isTerminal, colours: hasColours(io.stdout, io) };
}
