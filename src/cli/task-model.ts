/** The model of `claudikins run`: that of the config, or the one that a flag names. */
import type { Environment } from "../config/environment.ts";
import { entryNamed, type Llm, llmOf, type Preset, presets } from "../config/llm.ts";
import { ClaudikinsError } from "../errors.ts";

/** `named` is a model of the configured endpoint; where none is configured, a preset's name, with or without a model. */
export function chosenLlm(configured: Llm | undefined, named: string | undefined, env: Environment): Llm {
  if (configured) return named === undefined ? configured : { ...configured, model: named };
  const entry = named === undefined ? undefined : entryNamed(named);
  if (entry) return llmOf(entry, env);
  const what = named === undefined ? "No model is configured" : `No model is configured, and ${named} is not a preset`;
  throw new ClaudikinsError("USAGE", `${what}\n\n${howToConfigure(env)}`, {
    hint: 'To choose a model for one run: claudikins run --model cerebras "your task"',
  });
}

/** One screen. */
function howToConfigure(env: Environment): string {
  const entries = Object.entries<Preset>(presets).map(([name, { model, variable }]) => {
    const isSet = variable !== undefined && env[variable] ? " (set)" : "";
    const key = variable === undefined ? "on this machine, needs no key" : `key in ${variable}${isSet}`;
    return [`"llm": { "preset": "${name}" }`, `${model}; ${key}`] as const;
  });
  const width = Math.max(...entries.map(([entry]) => entry.length));
  return `A small model picks the tool and its arguments. Add one of these lines to claudikins.json, next to "mcpServers":

${entries.map(([entry, about]) => `  ${entry.padEnd(width)}  ${about}`).join("\n")}

To use another model of an endpoint, or any endpoint compatible with OpenAI's chat completions:

  "llm": { "preset": "openrouter", "model": "qwen/qwen3-8b" }
  "llm": { "baseUrl": "https://llm.example.com/v1", "apiKey": "\${MY_KEY}", "model": "small" }

With "executeTask": true next to it, agents also get the tool execute_task.`;
}
