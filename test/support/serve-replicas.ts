/** Replicas of `serve --http` as processes, which share one config and one Postgres. Each has a data folder of its own. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { httpServe, sdkHost } from "./http-serve.ts";
import { fixture } from "./servers.ts";
import type { TemporaryFolder } from "./temporary.ts";

export interface Replica extends AsyncDisposable {
  url: string;
  stderr(): string;
  signal(name: NodeJS.Signals): void;
  exited: Promise<number>;
  /** Starts programs in the background, behind the door if one is named. Returns the ids of their executions. */
  begin(programs: readonly string[], door?: string): Promise<string[]>;
}

export interface Replicas extends AsyncDisposable {
  /** The data folder of the replica that is started as the first, second or third one. */
  dataOf(index: number): string;
  start(flags?: string[]): Promise<Replica>;
  /** The names of the calls that the servers of all replicas have got. */
  calls(): string[];
  /** Lets calls of `counting.wait` with this name be answered. */
  answer(name: string): Promise<void>;
  /** The path for `until` of such a call. */
  until(name: string): string;
}

/** `more` are further keys of the config. The server `guarded` is the same as `counting`, and needs approvals. */
export function replicasIn(folder: TemporaryFolder, database: string, more: object = {}): Replicas {
  const counts = join(folder.path, "counts");
  const counting = fixture("counting", counts);
  folder.write("claudikins.json", {
    mcpServers: { counting, guarded: { ...counting, confirm: { act: "always" } } },
    ...more,
  });
  const started: Replica[] = [];
  let count = 0;
  const dataOf = (index: number) => join(folder.path, `data-${index}`);
  const until = (name: string) => join(folder.path, `go-${name}`);
  return {
    dataOf,
    start: async (flags = []) => {
      const env = { CLAUDIKINS_DATABASE: database, XDG_DATA_HOME: dataOf(count), CLAUDIKINS_LOG: "info" };
      count += 1;
      // Tests of the end say how long the lame duck serves.
      const all = flags.includes("--lame-duck") ? flags : ["--lame-duck", "0s", ...flags];
      const serve = await httpServe(folder, all, { env });
      const replica: Replica = {
        url: serve.url,
        stderr: serve.stderr,
        exited: serve.exited,
        signal: (name) => process.kill(serve.pid, name),
        begin: async (programs, door = "mcp") => {
          await using host = await sdkHost(new URL(`/${door}`, serve.url).href);
          return await Promise.all(programs.map((code) => began(host, code)));
        },
        [Symbol.asyncDispose]: () => serve[Symbol.asyncDispose](),
      };
      started.push(replica);
      return replica;
    },
    calls: () => {
      if (!existsSync(counts)) return [];
      const lines = readFileSync(counts, "utf8").split("\n").slice(0, -1);
      return lines.map((line) => String((JSON.parse(line) as [string, string])[1]));
    },
    answer: async (name) => void (await Bun.write(until(name), "")),
    until,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(started.map((each) => each[Symbol.asyncDispose]()));
    },
  };
}

async function began({ client }: Awaited<ReturnType<typeof sdkHost>>, code: string): Promise<string> {
  const { content } = await client.callTool({
    name: "execute_code",
    arguments: { code, background: true, timeout_ms: 300_000 },
  });
  const { text } = (content as { text: string }[])[0]!;
  const [, id] = /\{"resume": "(\w+)"\}/.exec(text) ?? [];
  if (id === undefined) throw new Error(`no id: ${text}`);
  return id;
}
