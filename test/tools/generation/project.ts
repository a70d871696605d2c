/** A project in a temporary folder, and apps for it like those of a command. */
import { join } from "node:path";
import { App } from "../../../src/app/app.ts";
import { silentLog } from "../../../src/base/log.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { fixture } from "../../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

export interface Project extends TemporaryFolder {
  /** The folder of the registry. */
  registry: string;
  /** Writes the config with these servers, in this order. */
  configure(servers: Record<string, object>): void;
  /** An app with the current files, like that of the next command. */
  open(more?: Partial<ConstructorParameters<typeof App>[2]>): Promise<App>;
  /** The entry of a server with these tools. Calling it again with the same name replaces the tools. Their definitions are not locked. */
  offering(name: string, tools: Record<string, object>): object;
}

export function project(): Project {
  const folder = temporaryFolder();
  const env = { PATH: process.env["PATH"], HOME: folder.path, CI: "true" };
  return {
    ...folder,
    registry: join(folder.path, ".claudikins", "registry"),
    configure: (mcpServers) => void folder.write("claudikins.json", { mcpServers }),
    open: async (more = {}) =>
      new App(await loadConfig({ cwd: folder.path, env }), new Sandbox({ keptWorkers: 0 }), {
        env,
        cwd: folder.path,
        log: silentLog,
        ...more,
      }),
    offering(name, tools) {
      const list = Object.entries(tools).map(([tool, more]) => ({
        name: tool,
        inputSchema: { type: "object" },
        ...more,
      }));
      return { ...fixture("from-file", folder.write(`tools/${name}.json`, list)), definitions: "trust" };
    },
  };
}
