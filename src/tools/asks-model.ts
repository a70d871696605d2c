/** The tool `model.ask`: how its calls are written and typed. Its result has the type that the call asks for. */
import { modelServerName } from "../config/model-server.ts";
import type { RegistryTool } from "./model.ts";

export const askTool = "ask";

/** The key in `_meta` of the tool. Another server of the name has other tools. */
export const asksModelKey = "claudikins/asks-model";

export function asksModel(server: string, { name, _meta }: Pick<RegistryTool, "name" | "_meta">): boolean {
  return server === modelServerName && name === askTool && _meta?.[asksModelKey] === true;
}

/** The signature after the path of the function. */
export const askSignature =
  "(prompt: string, options?: { schema?: const S, data?: unknown }): Promise<FromSchema<S>> /* without a schema: string */";

/** An example call, after the path of the function. */
export const askExample = '("Classify this", { data, schema: { enum: ["bug", "wish"] } })';

/** The declarations for editors: the type of an answer follows from the schema of the call. */
export const askDeclarations = `type Schema = { readonly [keyword: string]: unknown };

type FromSchema<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly anyOf: readonly (infer Choice)[] } | { readonly oneOf: readonly (infer Choice)[] }
      ? FromSchema<Choice>
      : S extends { readonly type: readonly (infer Type)[] }
        ? OfType<Type, S>
        : S extends { readonly type: infer Type }
          ? OfType<Type, S>
          : any;

type OfType<Type, S> = Type extends "string"
  ? string
  : Type extends "number" | "integer"
    ? number
    : Type extends "boolean"
      ? boolean
      : Type extends "null"
        ? null
        : Type extends "array"
          ? S extends { readonly items: infer Item }
            ? FromSchema<Item>[]
            : any[]
          : Type extends "object"
            ? S extends { readonly properties: infer Properties }
              ? Fields<Properties, S extends { readonly required: readonly (infer Name)[] } ? Name : never>
              : Record<string, any>
            : any;

type Fields<Properties, Required> = { -readonly [Name in keyof Properties & Required]: FromSchema<Properties[Name]> } & {
  -readonly [Name in Exclude<keyof Properties, Required>]?: FromSchema<Properties[Name]>;
};

interface Ask {
  <const S extends Schema>(prompt: string, options: { schema: S; data?: unknown }): Promise<FromSchema<S>>;
  (prompt: string, options?: { data?: unknown }): Promise<string>;
  <const S extends Schema>(args: { prompt: string; schema: S; data?: unknown }): Promise<FromSchema<S>>;
  (args: { prompt: string; data?: unknown }): Promise<string>;
}`;

/** The type of the function in these declarations. */
export const askType = "Ask";
