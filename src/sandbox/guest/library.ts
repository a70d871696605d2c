/** The libraries that earlier parts of the guest's script have stored. */
import type { Libraries } from "./libraries/leave.ts";

export const { buffer, coreJs, encoding, EventEmitter, eventTarget, inspect, path, querystring } =
  globalThis.__libraries as Libraries;
Reflect.deleteProperty(globalThis, "__libraries");
