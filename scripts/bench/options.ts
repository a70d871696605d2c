/** The command line of `bun run bench`. */
import { parseArgs } from "node:util";
import { exactly, type Rounds } from "./measure.ts";
import { peerNames } from "./peers/found.ts";
import { measures } from "./sections.ts";

export interface Options {
  names: string[];
  without: string[];
  quick: boolean;
  runs: number;
  rounds(most?: number, atLeast?: number): Rounds;
  /** An executable to use instead of building one from this source. */
  binary?: string | undefined;
  corpus?: string | undefined;
  json: boolean;
  write: boolean;
  out: string;
  /** The given words, except paths, which are private. */
  words: string[];
}

/** Throws an error that says what is wrong. */
export function optionsOf(args: string[]): Options {
  const { values, tokens } = parseArgs({
    args,
    tokens: true,
    options: {
      quick: { type: "boolean", default: false },
      runs: { type: "string" },
      only: { type: "string" },
      without: { type: "string", default: "" },
      binary: { type: "string" },
      corpus: { type: "string" },
      json: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      out: { type: "string", default: "bench.json" },
    },
  });
  const runs = values.runs === undefined ? undefined : Number(values.runs);
  if (runs !== undefined && (!Number.isInteger(runs) || runs < 1))
    throw new Error(`--runs takes a whole number, got ${values.runs}`);
  const names = values.only === undefined ? namesFor(values.quick) : known("only", values.only, Object.keys(measures));
  const without = values.without === "" ? [] : known("without", values.without, peerNames);
  if (values.write && tokens.some((each) => each.kind === "option" && ["only", "runs", "binary"].includes(each.name)))
    throw new Error(
      "--write publishes all figures of this source and cannot be combined with --only, --runs or --binary",
    );
  const { quick, binary, corpus, json, write, out } = values;
  const [least, more, withinMs] = quick ? [5, 400, 5_000] : [10, 1_000, 20_000];
  return {
    ...{ names, without, quick, binary, corpus, json, write, out },
    runs: runs ?? least * 2,
    rounds: (most = more, atLeast = least) =>
      runs === undefined ? { least: Math.min(atLeast, most), most, withinMs } : exactly(Math.min(runs, most)),
    words: [...(quick ? ["--quick"] : []), ...(corpus === undefined ? [] : ["--corpus …"])],
  };
}

/** Sections that take minutes each, and longer on a small machine. */
const long = ["first-minute", "probes", "many", "growth", "gen"];

function namesFor(quick: boolean): string[] {
  return Object.keys(measures).filter((name) => !quick || !long.includes(name));
}

function known(flag: string, text: string, all: readonly string[]): string[] {
  const names = text.split(",");
  const unknown = names.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new Error(`--${flag}: unknown name "${unknown}"; known names: ${all.join(", ")}`);
  return names;
}
