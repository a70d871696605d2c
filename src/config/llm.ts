/** The small model that executes tasks: `llm` of the config, the endpoints that have a name, and what a request needs. */
import type { Environment } from "./environment.ts";
import { expand } from "./expand.ts";

/** How an endpoint can be held to JSON: by a schema, to any JSON, or by words alone. */
export type AnswerFormat = "schema" | "json" | "words";

export interface Preset {
  baseUrl: string;
  /** The variable that its key usually stands in; undefined where it takes none. */
  variable?: string;
  /** A small one, where the config names none. */
  model: string;
  format: AnswerFormat;
  /** Models that think first: for a choice among a few options it need not be much. */
  effort?: "low";
  /** It takes this name for the limit of an answer, and not the older `max_tokens`. */
  hasCompletionLimit?: boolean;
}

const common = { format: "schema", effort: "low", hasCompletionLimit: true } as const;

/** In the order in which they are shown. */
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

export type PresetName = keyof typeof presets;

export const presetNames = Object.keys(presets) as PresetName[];

/** What stands in the config. There is a `preset` or a `baseUrl`, and with the latter alone a `model`. */
export interface LlmEntry {
  preset?: PresetName | undefined;
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  model?: string | undefined;
  timeoutMs?: number | undefined;
  headers?: Record<string, string> | undefined;
}

/** An endpoint with everything that a request to it needs. Its `baseUrl`, `apiKey` and `headers` hold secrets. */
export interface Llm extends Omit<Preset, "variable"> {
  /** Of the preset, else of the host. */
  name: string;
  apiKey: string | undefined;
  /** What the key comes from, as far as it is known: `CEREBRAS_API_KEY`. */
  variable: string | undefined;
  headers: Record<string, string>;
  /** Of one request. */
  timeoutMs: number;
  /** Variables that it refers to and that are not set: nothing can be asked until they are. */
  needs: string[];
  /** What was filled in for variables, by their names. */
  variables: Record<string, string>;
}

/** The variable that is read for the key where the config gives none. */
export function usualVariable(preset: PresetName | undefined): string | undefined {
  return preset === undefined ? undefined : (presets[preset] as Preset).variable;
}

export const defaultLlmTimeoutMs = 30_000;

/** Of an endpoint without a name it is not known what it can do: it is tried. */
const unknownPreset = { format: "schema" } as const;

export function llmOf(entry: LlmEntry, env: Environment): Llm {
  const preset: Partial<Preset> = entry.preset === undefined ? unknownPreset : presets[entry.preset];
  // A base address that is given is that of a stand-in, with the same abilities.
  const { variable, ...rest } = preset;
  const isUsual = entry.apiKey === undefined && variable !== undefined;
  const given = isUsual ? { ...entry, apiKey: `\${${variable}}` } : entry;
  const { value, missing, used } = expand(given, env);
  const baseUrl = (value.baseUrl ?? rest.baseUrl ?? "").replace(/\/+$/, "");
  const [named] = /(?<=^\$\{)\w+/.exec(given.apiKey ?? "") ?? [];
  return {
    ...rest,
    format: rest.format ?? "schema",
    baseUrl,
    model: value.model ?? rest.model ?? "",
    name: entry.preset ?? (URL.canParse(baseUrl) ? new URL(baseUrl).host : "llm"),
    apiKey: value.apiKey || undefined,
    variable: named,
    headers: value.headers ?? {},
    timeoutMs: value.timeoutMs ?? defaultLlmTimeoutMs,
    needs: missing,
    variables: used,
  };
}

/** `cerebras`, or `cerebras/gpt-oss-120b`, as an entry; undefined for anything else. */
export function entryNamed(text: string): LlmEntry | undefined {
  const [name = "", ...rest] = text.split("/");
  const preset = presetNames.find((each) => each === name);
  if (!preset) return undefined;
  return rest.length === 0 ? { preset } : { preset, model: rest.join("/") };
}
