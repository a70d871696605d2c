/** Writes `globals.d.ts`, the file that declares all globals of programs for TypeScript. It refers to a file of each server. */
import { join } from "node:path";
import { statsOf, writeWhenChanged } from "../../../base/files.ts";
import type { RegistryServer } from "../../model.ts";
import { sharedMark } from "../generated-mark.ts";
import { sandboxDeclarations } from "./sandbox-globals.ts";
import { serverGlobalName } from "./server-global.ts";

const globalsName = "globals.d.ts";

interface GlobalsFile {
  path: string;
  text: string;
  isOurs(found: string): boolean;
}

type Server = Pick<RegistryServer, "name" | "folder">;

/** Throws FILE_NOT_WRITABLE. */
export function writeGlobals(folder: string, servers: readonly Server[]): void {
  const { path, text, isOurs } = globalsFile(folder, servers);
  writeWhenChanged(path, text, isOurs);
}

/** The file as it should be. Servers without files are left out until they are asked again. */
export function globalsFile(folder: string, servers: readonly Server[]): GlobalsFile {
  const written = servers
    .filter((server) => statsOf(join(folder, ...server.folder.split("/"), serverGlobalName)) !== undefined)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const references = written.map((server) => `/// <reference path="./${server.folder}/${serverGlobalName}" />`);
  const texts = [
    sharedMark,
    ['/// <reference lib="esnext" />', ...references].join("\n"),
    "export {};",
    sandboxDeclarations,
  ];
  return {
    path: join(folder, globalsName),
    text: `${texts.join("\n\n")}\n`,
    isOurs: (found) => found.startsWith(sharedMark),
  };
}
