/** Walks from a task to one tool: the model chooses a category, a server and a tool. */
import type { Parts } from "../programs/parts.ts";
import { toolId } from "../tools/model.ts";
import { prepareSearch, rankedTools } from "../tools/search/search.ts";
import { type AskedModel, unusable } from "./asked-model.ts";
import { askedAgain, choicesOf, noneName } from "./choice-prompt.ts";
import { choiceIn, objectIn, saidIn } from "./json-answer.ts";
import { categories, mixedTools, type Options, ranksOf, type ServerTool, servers, tools } from "./options.ts";

/** Maximum number of tools from other places that are offered when no option of a level fits, or named when nothing fits. */
const maxElsewhere = 10;

/** Tools that a failure names. */
const maxNearTools = 3;

interface Walked {
  /** Undefined if the model says that nothing fits. */
  found: ServerTool | undefined;
  /** Whether there are tools at all. */
  isAny: boolean;
  /** Ids of the tools that search ranks highest for the task. */
  near: string[];
}

/**
 * Never offers denied servers and tools. If no option of a level fits, offers the best tools that were not offered yet, once.
 * Throws MODEL_ANSWER_INVALID, and what the model throws.
 */
export async function walk(
  task: string,
  parts: Parts,
  model: AskedModel,
  tell: (line: string) => void,
): Promise<Walked> {
  const all = parts.catalog.visibleServers.filter((server) => server.tools.length > 0);
  await prepareSearch(parts.catalog);
  const best = rankedTools(task, parts.catalog);
  const ranks = ranksOf(best);
  return {
    found: all.length > 0 ? await toTool() : undefined,
    isAny: all.length > 0,
    near: best.slice(0, maxNearTools).map(({ server, name }) => toolId(server, name)),
  };

  async function toTool(): Promise<ServerTool | undefined> {
    const category = await choose(categories(all, ranks));
    if (!category) return elsewhere(() => false);
    const offered = servers(category, ranks);
    const server = await choose(offered);
    if (!server) {
      const seen = new Set(offered.offered.map(({ value }) => value.name));
      return elsewhere((each) => seen.has(each.server.name));
    }
    const its = tools(server, ranks);
    const tool = await choose(its);
    if (tool) return tool;
    const seen = new Set(its.offered.map(({ value }) => value.tool));
    return elsewhere((each) => seen.has(each.tool));
  }

  /** Offers the best tools that the model has not seen yet. Even a single one is offered as a question. */
  async function elsewhere(isSeen: (each: ServerTool) => boolean): Promise<ServerTool | undefined> {
    const found = best.flatMap(({ server: serverName, name }) => {
      const server = all.find((each) => each.name === serverName);
      const tool = server?.tools.find((each) => each.name === name);
      return server && tool && !isSeen({ server, tool }) ? [{ server, tool }] : [];
    });
    return found.length === 0 ? undefined : ask(mixedTools(found.slice(0, maxElsewhere)));
  }

  async function choose<T>(options: Options<T>): Promise<T | undefined> {
    const [only, ...others] = options.offered;
    if (!only || others.length > 0) return ask(options);
    const { level, all: count } = options;
    return model.step({ level, options: count }, async (step) => {
      step.choice = only.name;
      step.skipped = true;
      return only.value;
    });
  }

  /** The chosen option; undefined for "none of these". */
  async function ask<T>(options: Options<T>): Promise<T | undefined> {
    const { level, all: count, offered } = options;
    const choices = choicesOf(task, options);
    const names = [...choices.names, noneName];
    return model.step({ level, options: count }, async (step) => {
      if (offered.length < count) step.offered = offered.length;
      const answer = await model.ask(choices.request);
      const first = choiceIn(answer, names);
      const choice = first ?? choiceIn(await model.ask(askedAgain(choices, said(answer))), names);
      if (choice === undefined) throw unusable(model, `chose a ${level} that does not exist`);
      const option = choices.optionOf(choice);
      step.choice = option?.name ?? noneName;
      tell(`${level}: ${choice}`);
      return option?.value;
    });
  }
}

/** The answer's text, to quote in the correction. */
function said(answer: string): string {
  const object = objectIn(answer);
  return object ? saidIn(object) : answer.trim();
}
