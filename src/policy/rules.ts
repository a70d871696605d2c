/** The rules of a config, which decide about a call by its arguments and by what the session has read. */
import { messageOf } from "../base/errors.ts";
import { didYouMean } from "../base/near-names.ts";
import { Work } from "../config/cel/work.ts";
import type { Condition, ConditionFacts } from "../config/condition.ts";
import type { Label, RuleLine } from "../config/policy.ts";

/** The names of the arguments of a tool, as far as they are known. */
export type ArgumentNames = (server: string, tool: string) => readonly string[] | undefined;

/** A rule that applies to a call. */
export interface AppliedRule extends RuleLine {
  /** Why it applies, if its condition could not be decided. */
  problem: string | undefined;
}

/** A tool by its whole name, with its labels. The labels are the same object until they change. */
interface LabelledTool {
  tool: string;
  labels: ReadonlySet<Label>;
}

export class Rules {
  readonly #conditions = new Map<string, Condition>();
  /** The rules that can apply to a tool, by its labels. */
  readonly #candidates = new WeakMap<
    ReadonlySet<Label>,
    { rules: readonly RuleLine[]; tool: string; candidates: readonly RuleLine[] }
  >();
  #read: ((text: string) => Condition) | undefined;

  /** Loads the code that rules need. Undefined if it is already loaded. */
  load(rules: readonly RuleLine[]): Promise<void> | undefined {
    return rules.length === 0 || this.#read ? undefined : this.#load();
  }

  async #load(): Promise<void> {
    this.#read = (await import("../config/condition.ts")).conditionOf;
  }

  /**
   * The first rule that denies the call, else the first one that requires a confirmation. A rule also applies if its condition fails, or if
   * the condition names this tool and an argument that the tool does not have. `known` returns the tool's arguments. `factsOf` is called
   * only if a rule can apply to the tool.
   */
  applied(
    rules: readonly RuleLine[],
    { tool, labels }: LabelledTool,
    factsOf: () => ConditionFacts,
    known: () => readonly string[] | undefined,
  ): AppliedRule | undefined {
    const candidates = this.#candidatesOf(rules, { tool, labels });
    if (candidates.length === 0) return undefined;
    const facts = factsOf();
    // All rules together must not block the thread.
    const work = new Work();
    let first: AppliedRule | undefined;
    for (const rule of candidates) {
      if (first && rule.effect === "confirm") continue;
      const applied = this.#apply(rule, facts, known, work);
      if (applied?.effect === "deny") return applied;
      first ??= applied;
    }
    return first;
  }

  /** The rules that can apply to a call of the tool, whatever its arguments are. `load` comes first. */
  about(rules: readonly RuleLine[], tool: LabelledTool): RuleLine[] {
    return rules.filter((rule) => this.#mayApply(rule, tool));
  }

  /** Most rules are about other tools. */
  #candidatesOf(rules: readonly RuleLine[], { tool, labels }: LabelledTool): readonly RuleLine[] {
    const found = this.#candidates.get(labels);
    if (found?.rules === rules && found.tool === tool) return found.candidates;
    const candidates = this.about(rules, { tool, labels });
    this.#candidates.set(labels, { rules, tool, candidates });
    return candidates;
  }

  #mayApply({ condition: text }: RuleLine, { tool, labels }: LabelledTool): boolean {
    try {
      const condition = this.#condition(text);
      return (condition.args.length > 0 && condition.tools.includes(tool)) || condition.mayBeMet(tool, labels);
    } catch {
      return true;
    }
  }

  #apply(
    rule: RuleLine,
    facts: ConditionFacts,
    known: () => readonly string[] | undefined,
    work: Work,
  ): AppliedRule | undefined {
    try {
      const condition = this.#condition(rule.condition);
      const problem = unknownArgument(condition, facts.tool, known);
      return problem !== undefined || condition.isMet(facts, work) ? { ...rule, problem } : undefined;
    } catch (error) {
      return { ...rule, problem: messageOf(error).split("\n", 1)[0] };
    }
  }

  #condition(text: string): Condition {
    return this.#conditions.getOrInsertComputed(text, () => {
      if (!this.#read) throw new Error("the rules are not loaded");
      return this.#read(text);
    });
  }
}

/** The problem of a condition that names the tool and an argument that the tool does not have. */
export function unknownArgument(
  { args, tools }: Condition,
  tool: string,
  known: () => readonly string[] | undefined,
): string | undefined {
  if (args.length === 0 || !tools.includes(tool)) return undefined;
  const names = known();
  if (!names) return undefined;
  const unknown = args.find((name) => !names.includes(name));
  if (unknown === undefined) return undefined;
  const near = didYouMean(unknown, names);
  return `${tool} has no argument "${unknown}"${near === undefined ? "" : `. ${near}`}`;
}

/** Such as `the rule policy.rules[0] applies: args.branch == "main"`. */
export function ruleText({ line, condition, problem }: AppliedRule): string {
  const why = problem === undefined ? "" : `, because its condition cannot be decided (${problem})`;
  return `the rule ${line} applies${why}: ${condition}`;
}
