/** Emitted files as a program sees them: written to a folder and imported. */
import { bridgeFiles } from "../../src/registry/bridge.ts";
import { emitServer } from "../../src/registry/emit.ts";
import type { RegistryServer } from "../../src/registry/model.ts";
import { assignFileNames } from "../../src/registry/names.ts";
import { temporaryFolder } from "../support/temporary.ts";

const transpiler = new Bun.Transpiler({ loader: "ts" });

/** The exports of `index.ts` and of each tool's file, in the order of the tools. Throws on what is no TypeScript. */
export async function importEmitted(server: RegistryServer) {
  using folder = temporaryFolder();
  const modules = new Map<string, Record<string, unknown>>();
  for (const [name, text] of Object.entries(bridgeFiles())) folder.write(`_runtime/${name}`, text);
  for (const { name, text } of emitServer(server)) {
    transpiler.transformSync(text);
    modules.set(name, { ...(await import(folder.write(`${server.folder}/${name}`, text))) });
  }
  const files = assignFileNames(server.tools.map((tool) => tool.name));
  return {
    index: modules.get("index.ts"),
    tools: server.tools.map((tool) => modules.get(`${files.get(tool.name)}.ts`) ?? {}),
  };
}
