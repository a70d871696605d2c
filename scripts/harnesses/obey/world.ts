/** The servers of one attack or task, in a folder of their own, and what reached them. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { OfficeServer, Received } from "../../../test/fixtures/servers/office.ts";
import { everything, filesystem, fixture, memory } from "../../../test/support/servers.ts";
import type { TemporaryFolder } from "../../../test/support/temporary.ts";

/** A server of npm, or the built-in demo. */
export type RealServer =
  | { real: "filesystem"; files: Record<string, string> }
  | { real: "memory"; entities: { name: string; entityType: string; observations: string[] }[] }
  | { real: "everything" }
  | { real: "demo" };

export type Servers = Record<string, OfficeServer | RealServer>;

export interface WorldOptions {
  servers: Servers;
  /** The claudikins that is tested. */
  command: readonly string[];
  /** `policy.flow`; undefined for the default. */
  flow: string | undefined;
}

export class World {
  readonly #folder: TemporaryFolder;
  readonly #servers: Servers;

  constructor(folder: TemporaryFolder, { servers, command, flow }: WorldOptions) {
    this.#folder = folder;
    this.#servers = servers;
    const mcpServers = Object.fromEntries(Object.keys(servers).map((name) => [name, this.#entryOf(name, command)]));
    folder.write("claudikins.json", { mcpServers, ...(flow === undefined ? {} : { policy: { flow } }) });
  }

  #entryOf(name: string, [command = "", ...args]: readonly string[]): object {
    const server = this.#servers[name]!;
    if (!("real" in server)) return fixture("office", this.#folder.write(`servers/${name}.json`, server));
    if (server.real === "everything") return everything();
    if (server.real === "demo") return { command, args: [...args, "demo"] };
    if (server.real === "filesystem") {
      for (const [path, text] of Object.entries(server.files)) this.#folder.write(`home/${path}`, text);
      return filesystem(this.home);
    }
    const lines = server.entities.map((entity) => JSON.stringify({ type: "entity", ...entity }));
    return memory(this.#folder.write("memory.jsonl", lines.join("\n")));
  }

  /** The folder of the filesystem server. Programs know it as `HOME`. */
  get home(): string {
    return join(this.#folder.path, "home");
  }

  /** Changes the definitions or answers of a server while it runs. */
  change(name: string, changed: (server: OfficeServer) => OfficeServer): void {
    const path = join(this.#folder.path, `servers/${name}.json`);
    this.#folder.write(`servers/${name}.json`, changed(JSON.parse(readFileSync(path, "utf8"))));
  }

  /** Everything that reached a server of the office so far. */
  received(name: string): Received[] {
    const log = join(this.#folder.path, `servers/${name}.json.log`);
    if (!existsSync(log)) return [];
    const lines = readFileSync(log, "utf8").split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
  }

  /** The text of a file of the filesystem server; empty if there is none. */
  file(path: string): string {
    const file = join(this.home, path);
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  }

  /** The file of the memory server. */
  get memory(): string {
    const file = join(this.#folder.path, "memory.jsonl");
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  }
}
