/** Gated calls with large arguments: long strings, deep, many keys. */
import { gatedCall, type Kind, many, type Run } from "./kind.ts";

const lateMs = 10_000;

/** Characters of the arguments as JSON; the limit of one call is 8 MB. */
const maxChars = 7_000_000;

export const gatedCallsKind: Kind = {
  name: "gated calls with large arguments",
  weight: 10,
  async run(run) {
    const { random, processes } = run;
    const code = codeOf(run);
    const agent = random.chance(0.5) ? await processes.newer() : await processes.older();
    return await agent.call("execute_code", { code }, { random, signal: AbortSignal.timeout(lateMs) });
  },
};

function codeOf(run: Run): string {
  const { random } = run;
  const calls = Array.from({ length: random.pick([1, 1, 1, 2, 4]) }, () => gatedCall(run, largeArgument(run)));
  return `const all = [${calls.map((call) => `${call}.catch(String)`).join(", ")}]; return (await Promise.all(all)).length`;
}

/** The source of a property. */
export function largeArgument({ random }: Pick<Run, "random">, most = maxChars): string {
  const chars = 1_000 + many(random, most);
  switch (random.below(6)) {
    case 0:
      return `text: "word ".repeat(${Math.floor(chars / 5)}),`;
    case 1:
      return `lines: ${JSON.stringify(random.pick(["\n", "\u202e", '"', "\u0001", "ü", "😀"]))}.repeat(${Math.floor(chars / 6)}),`;
    case 2:
      return `deep: JSON.parse("[".repeat(${Math.min(chars / 2, 900) | 0}) + "]".repeat(${Math.min(chars / 2, 900) | 0})),`;
    case 3:
      return `keys: Object.fromEntries(Array.from({ length: ${Math.floor(chars / 15)} }, (_, i) => ["k" + i, i])),`;
    case 4:
      return `list: Array(${Math.floor(chars / 2)}).fill(1),`;
    default:
      return `rows: Array.from({ length: ${Math.floor(chars / 40)} }, (_, i) => ({ id: i, a: { b: { c: [i] } } })),`;
  }
}
