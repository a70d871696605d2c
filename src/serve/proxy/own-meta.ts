/** The keys of `_meta` by which a message belongs to something of claudikins' own connection with the agent. */
import { RELATED_TASK_META_KEY, SUBSCRIPTION_ID_META_KEY } from "@modelcontextprotocol/server";
import { isObject, type JsonObject } from "../../base/json-object.ts";

/** A server's message without them: its tasks, subscriptions and tokens mean nothing to the agent, or something of another server. */
export function withoutOwnMeta<T extends JsonObject>(message: T): T {
  const { _meta: meta } = message;
  if (!isObject(meta) || !Object.keys(meta).some(isOwn)) return message;
  return { ...message, _meta: Object.fromEntries(Object.entries(meta).filter(([key]) => !isOwn(key))) };
}

function isOwn(key: string): boolean {
  return ownKeys.includes(key) || key.toLowerCase().startsWith("claudikins/");
}

const ownKeys: readonly string[] = [RELATED_TASK_META_KEY, SUBSCRIPTION_ID_META_KEY, "progressToken"];
