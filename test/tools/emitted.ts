/** Generated files as a program uses them: written to a folder beside a bridge, and imported. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { RegistryServer } from "../../src/tools/model.ts";
import { assignFileNames } from "../../src/tools/names.ts";
import { writeBridge } from "../../src/tools/registry/bridge.ts";
import { emitServer } from "../../src/tools/registry/emit.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

const transpiler = new Bun.Transpiler({ loader: "ts" });

/** The paths of the files. */
export function writeEmitted(folder: TemporaryFolder, server: RegistryServer): string[] {
  writeBridge(folder.path);
  mkdirSync(join(folder.path, ...server.folder.split("/")), { recursive: true });
  return emitServer(server).map(({ name, text }) => {
    // Throws if the text is not TypeScript.
    transpiler.transformSync(text);
    return folder.write(`${server.folder}/${name}`, text);
  });
}

/** The exports of `index.ts` and of each tool's file, in the order of the tools. Throws if a file is not TypeScript. */
export async function importEmitted(server: RegistryServer) {
  using folder = temporaryFolder();
  writeEmitted(folder, server);
  const load = async (name: string) => ({ ...(await import(join(folder.path, server.folder, name))) });
  const files = assignFileNames(server.tools.map((tool) => tool.name));
  return {
    index: await load("index.ts"),
    tools: await Promise.all(server.tools.map((tool) => load(`${files.get(tool.name)}.ts`))),
  };
}
