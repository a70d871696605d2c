/** The programs of a seed, each by its index alone. */

import { Random } from "../random.ts";
import { loadCorpus } from "./corpus.ts";
import { grammarProgram } from "./grammar.ts";
import { mutatedProgram } from "./mutate.ts";

/** The number of programs from the grammar, out of ten. The others are mutated programs of the corpus. */
const fromGrammar = 5;

export type Programs = (index: number) => string;

export async function programsOf(seed: number): Promise<Programs> {
  const corpus = await loadCorpus();
  return (index) => {
    const random = new Random(seed, index);
    return random.below(10) < fromGrammar ? grammarProgram(random) : mutatedProgram(corpus, random);
  };
}
