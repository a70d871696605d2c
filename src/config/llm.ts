/** The small model that executes tasks: the key `llm` of the config, the presets, and what a request needs. */
import type { Environment } from "./environment.ts";
import { expand } from "./expand.ts";

/** Time for a model's endpoint to answer, if the config sets none. */
const defaultLlmMs = 30_000;

/** How an endpoint is made to answer with JSON: by a schema, by its JSON mode, or by the prompt alone. */
export type AnswerFormat = "schema" | "json" | "words";

export interface Preset {
  baseUrl: string;
  /** The usual variable for the API key. Undefined if the endpoint takes no key. */
  variable?: string;
  /** The default model, a small one. */
  model: string;
  format: AnswerFormat;
  /** The effort of models that reason before they answer. Choosing among a few options needs little reasoning. */
  effort?: "low";
  /** The endpoint calls the limit of an answer `max_completion_tokens`, not `max_tokens`. */
  hasCompletionLimit?: boolean;
}

const common = { format: "schema", effort: "low", hasCompletionLimit: true } as const;

/** The presets, in the order in which they are shown. */
export const presets = {
  cerebras: {
    baseUrl: "https://api.cerebras.ai/v1",
    variable: "CEREBRAS_API_KEY",
    model: "gpt-oss-120b",
    ...common,
  },
  gemini: {
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
    variable: "GEMINI_API_KEY",
    model: "gemini-flash-lite-latest",
    ...common,
  },
  openai: { baseUrl: "https://api.openai.com/v1", variable: "OPENAI_API_KEY", model: "gpt-5-nano", ...common },
  openrouter: {
    baseUrl: "https://openrouter.ai/api/v1",
    variable: "OPENROUTER_API_KEY",
    model: "openai/gpt-oss-120b",
    ...common,
  },
  ollama: { baseUrl: "http://127.0.0.1:11434/v1", model: "llama3.2", format: "schema" },
} as const satisfies Record<string, Preset>;

type PresetName = keyof typeof presets;

export const presetNames = Object.keys(presets) as PresetName[];

/** The value of `llm` in the config. It has a `preset` or a `baseUrl`. A `baseUrl` alone also needs a `model`. */
export interface LlmEntry {
  preset?: PresetName | undefined;
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  model?: string | undefined;
  timeoutMs?: number | undefined;
  headers?: Record<string, string> | undefined;
}

/** An endpoint with everything that a request needs. Its `baseUrl`, `apiKey` and `headers` may contain secrets. */
export interface Llm extends Omit<Preset, "variable"> {
  /** The name of the preset, or else the host of the address. */
  name: string;
  apiKey: string | undefined;
  /** The variable that the key comes from, if it is known, for example `CEREBRAS_API_KEY`. */
  variable: string | undefined;
  headers: Record<string, string>;
  /** The time limit of one request. */
  timeoutMs: number;
  /** The variables that are referred to and not set. No request can be made until they are. */
  needs: string[];
  /** The values that were filled in, by the names of their variables. */
  variables: Record<string, string>;
}

/** Returns the variable of the API key that is used if the config gives no key. */
export function usualVariable(preset: PresetName | undefined): string | undefined {
  return preset === undefined ? undefined : (presets[preset] as Preset).variable;
}

export function llmOf(entry: LlmEntry, env: Environment): Llm {
  const preset: Partial<Preset> = entry.preset === undefined ? {} : presets[entry.preset];
  // A `baseUrl` beside a preset is a stand-in for the endpoint, with the same abilities.
  const { variable, ...rest } = preset;
  const isUsual = entry.apiKey === undefined && variable !== undefined;
  const given = isUsual ? { ...entry, apiKey: `\${${variable}}` } : entry;
  const { value, missing, used } = expand(given, env);
  const baseUrl = (value.baseUrl ?? rest.baseUrl ?? "").replace(/\/+$/, "");
  const [named] = /(?<=^\$\{)\w+/.exec(given.apiKey ?? "") ?? [];
  return {
    ...rest,
    // The abilities of an endpoint without a preset are not known, so the best is assumed.
    format: rest.format ?? "schema",
    baseUrl,
    model: value.model ?? rest.model ?? "",
    name: entry.preset ?? URL.parse(baseUrl)?.host ?? "llm",
    apiKey: value.apiKey || undefined,
    variable: named,
    headers: value.headers ?? {},
    timeoutMs: value.timeoutMs ?? defaultLlmMs,
    needs: missing,
    variables: used,
  };
}

/** Reads `cerebras` or `cerebras/gpt-oss-120b` as an entry. Returns undefined if the preset does not exist. */
export function entryNamed(text: string): LlmEntry | undefined {
  const [name = "", ...rest] = text.split("/");
  const preset = presetNames.find((each) => each === name);
  if (!preset) return undefined;
  return rest.length === 0 ? { preset } : { preset, model: rest.join("/") };
}
