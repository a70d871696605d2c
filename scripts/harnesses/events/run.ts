/**
 * `bun run events [--rounds n] [--seed n] [--first n] [--parallel n] [--only single|team|hostile] [--source] [--keep]`: rounds in which webhooks, files,
 * resources, lists and outcomes start programs and notify, while processes are killed and frozen, the database restarts and clocks jump. Every
 * second round is that of a team with Postgres. Exits with code 1 if an event is lost, a call was made twice, a dead delivery is missing, a
 * limit was not kept, a forged request was accepted, or anything is left. `--keep` keeps the folders of failed rounds.
 */
import { parseArgs } from "node:util";
import { executable, fromSource } from "../../../test/support/claudikins.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../../test/support/postgres.ts";
import { hasClocks } from "./clock.ts";
import { hostile } from "./hostile.ts";
import { type Plan, planOf, type Shape } from "./plan.ts";
import { eventRound, type Round } from "./round.ts";
import { Site } from "./site.ts";

/** Rounds that use one installation, one after another. */
const roundsOfSite = 15;

export interface StormOptions {
  plans: readonly Plan[];
  command: readonly string[];
  /** Rounds at once, each in an installation of its own. */
  parallel: number;
  isKept?: boolean;
  onRound?: (plan: Plan, round: Round, site: Site) => void;
}

export interface StormResult {
  ends: Record<string, number>;
  /** Processes that were killed. */
  deaths: number;
  wrong: string[];
}

export async function storm({ plans, command, parallel, isKept = false, onRound }: StormOptions): Promise<StormResult> {
  const result: StormResult = { ends: {}, deaths: 0, wrong: [] };
  const waiting = [...plans];
  const next = (shape: Shape) => {
    const place = waiting.findIndex((each) => each.shape === shape);
    return place === -1 ? undefined : waiting.splice(place, 1)[0];
  };
  const lane = async (shape: Shape) => {
    await using stack = new AsyncDisposableStack();
    let postgres: PostgresFixture | undefined;
    for (let plan = next(shape); plan; ) {
      if (shape === "team") postgres ??= stack.use(await postgresFixture());
      await using site = await Site.open(shape, command, postgres);
      let hasFailed = false;
      for (let count = 0; plan && count < roundsOfSite && !hasFailed; count++) {
        const round = await eventRound(plan, site, postgres);
        hasFailed = round.wrong.length > 0;
        for (const [end, number] of Object.entries(round.ends)) result.ends[end] = (result.ends[end] ?? 0) + number;
        result.wrong.push(...round.wrong.map((each) => `round ${plan!.index}: ${each}`));
        onRound?.(plan, round, site);
        plan = next(shape);
      }
      const left = await site.stop();
      result.wrong.push(...left);
      result.deaths += site.processes.reduce((sum, { deaths }) => sum + deaths, 0);
      site.isKept = isKept && (hasFailed || left.length > 0);
    }
  };
  const shapes = new Set(plans.map(({ shape }) => shape));
  const lanes = Array.from({ length: parallel }, (_, place) => [...shapes][place % shapes.size]!);
  await Promise.all((lanes.length < shapes.size ? [...shapes] : lanes).map(lane));
  return result;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      rounds: { type: "string", default: "20" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      first: { type: "string", default: "0" },
      parallel: { type: "string", default: "4" },
      only: { type: "string" },
      source: { type: "boolean", default: false },
      keep: { type: "boolean", default: false },
    },
  });
  const { seed, only } = values;
  const command = values.source ? fromSource : [executable()];
  if (only === "hostile") return hostile(command);
  if (!hasClocks) console.error("no clock jumps: libfaketime was not found, which Debian has in faketime");
  if (postgresNote !== "") console.error(`no rounds of teams${postgresNote}`);
  const [rounds, first] = [Number(values.rounds), Number(values.first)];
  const plans = Array.from({ length: rounds }, (_, place) => planOf(Number(seed), first + place)).filter(
    ({ shape }) => (only === undefined || shape === only) && (shape !== "team" || postgresNote === ""),
  );
  let failed = 0;
  const onRound = ({ index }: Plan, { wrong }: Round, site: Site) => {
    if (wrong.length === 0) return;
    failed += 1;
    const kept = values.keep ? `\n  its folder: ${site.folder.path}` : "";
    console.error(`bun run events --seed ${seed} --first ${index} --rounds 1:\n  ${wrong.join("\n  ")}${kept}`);
  };
  const begun = performance.now();
  const result = await storm({ plans, command, parallel: Number(values.parallel), isKept: values.keep, onRound });
  const ends = Object.entries(result.ends).map(([end, count]) => `${count} ${end}`);
  const seconds = Math.round((performance.now() - begun) / 1_000);
  const left = result.wrong.filter((each) => !each.startsWith("round "));
  for (const each of left) console.error(each);
  console.log(
    `seed ${seed}: ${plans.length} rounds in ${seconds} s, ${result.deaths} processes were killed; deliveries: ${ends.join(", ")}; ${failed} rounds failed`,
  );
  return result.wrong.length > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main();
