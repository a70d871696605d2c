/** A project in a folder of its own, and toolboxes that work with it as a command does. */
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { silentLog } from "../../src/log.ts";
import { Sandbox } from "../../src/sandbox/sandbox.ts";
import { Toolbox } from "../../src/toolbox/toolbox.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

export interface Project extends TemporaryFolder {
  /** Where the registry is written. */
  registry: string;
  /** Writes the config with these servers, in this order. */
  configure(servers: Record<string, object>): void;
  /** A toolbox as the next command would open it, with what is on disk now. */
  open(): Promise<Toolbox>;
  /** The entry of a server that offers these tools, and other ones when it is called again with the same name. */
  offering(name: string, tools: Record<string, object>): object;
}

export function project(): Project {
  const folder = temporaryFolder();
  const env = { PATH: process.env["PATH"], HOME: folder.path, CI: "true" };
  return {
    ...folder,
    registry: join(folder.path, ".claudikins", "registry"),
    configure: (mcpServers) => void folder.write("claudikins.json", { mcpServers }),
    open: async () =>
      new Toolbox(await loadConfig({ cwd: folder.path, env }), new Sandbox({ keptWorkers: 0 }), {
        env,
        cwd: folder.path,
        log: silentLog,
      }),
    offering(name, tools) {
      const list = Object.entries(tools).map(([tool, more]) => ({
        name: tool,
        inputSchema: { type: "object" },
        ...more,
      }));
      return fixture("from-file", folder.write(`tools/${name}.json`, list));
    },
  };
}
