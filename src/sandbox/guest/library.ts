/** The libraries of the guest, which earlier parts of its script have left. */
import type { Libraries } from "./libraries/leave.ts";

export const { buffer, coreJs, encoding, EventEmitter, eventTarget, inspect, path, querystring } =
  globalThis.__libraries as Libraries;
Reflect.deleteProperty(globalThis, "__libraries");
