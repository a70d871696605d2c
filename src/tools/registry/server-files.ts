/** Lists all generated files of one server: the modules of its tools, and its declarations for programs. */

import type { RegistryServer } from "../model.ts";
import { type EmittedFile, emitServer } from "./emit.ts";
import { serverGlobal, serverGlobalName } from "./globals/server-global.ts";
import { serverModule, serverModuleName } from "./globals/server-module.ts";

export function filesOfServer(server: RegistryServer): EmittedFile[] {
  return [
    ...emitServer(server),
    { name: serverGlobalName, text: serverGlobal(server) },
    { name: serverModuleName, text: serverModule(server) },
  ];
}
