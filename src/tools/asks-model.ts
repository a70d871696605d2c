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
