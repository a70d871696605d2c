/** Deno: a new process without permissions for each execution. Its tool calls go through this process. */
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type RawClient, startRawClient } from "../host.ts";
import { linesOf } from "./lines.ts";
import { installedProgram, outputOf } from "./npm.ts";
import type { Peer, Servers } from "./peer.ts";

const version = "2.9.6";

/** Deno searches for a project's files around the program, and finds none in a folder of its own. */
const guest = "deno-guest.mjs";

export interface DenoHere {
  executable: string;
  version: string;
  /** A folder for the files that it writes while it runs. */
  folder: string;
}
export type Deno = DenoHere | { missing: string };

/** Deno on PATH, or else npm's in a cache folder, installed once. */
export async function findDeno(folder: string): Promise<Deno> {
  try {
    const found = Bun.which("deno") ?? (await installedProgram("deno", version, process.env));
    // npm may put a script on PATH that starts the real program, and would be measured with it.
    const asked = ["eval", "console.log(JSON.stringify([Deno.execPath(), Deno.version.deno]))"];
    const [executable, itsVersion] = JSON.parse(await outputOf([found, ...asked]));
    mkdirSync(folder, { recursive: true });
    copyFileSync(join(import.meta.dir, guest), join(folder, guest));
    return { executable, version: itsVersion, folder };
  } catch (error) {
    return { missing: error instanceof Error ? error.message : String(error) };
  }
}

export async function startDeno(deno: DenoHere, servers: Servers = {}): Promise<Peer> {
  const connecting = Object.entries(servers).map(async ([name, entry]) => [name, await startRawClient(entry)] as const);
  const clients = new Map(await Promise.all(connecting));
  const running = new Set<Bun.Subprocess>();
  const run = (code: string) => {
    const child = Bun.spawn([deno.executable, "run", "--no-prompt", "--no-config", join(deno.folder, guest)], {
      env: {
        PATH: process.env["PATH"],
        DENO_DIR: join(deno.folder, "cache"),
        DENO_NO_UPDATE_CHECK: "1",
        NO_COLOR: "1",
      },
      cwd: deno.folder,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    running.add(child);
    void child.exited.then(() => running.delete(child));
    const send = (message: object) => {
      child.stdin.write(`${JSON.stringify(message)}\n`);
      void child.stdin.flush();
    };
    send({ code, servers: [...clients.keys()] });
    return { child, send };
  };
  return {
    async execute(code) {
      const { child, send } = run(code);
      for await (const line of linesOf(child.stdout)) {
        const message = JSON.parse(line);
        if ("call" in message) void answer(clients, message).then(send);
        else if ("done" in message) return message.done;
        else throw new Error(`deno: ${message.failed}`);
      }
      throw new Error(`deno ended with ${await child.exited}`);
    },
    leave: (code) => void run(code),
    pids: () => [...running].map(({ pid }) => pid),
    async [Symbol.asyncDispose]() {
      for (const child of running) child.kill("SIGKILL");
      await Promise.all([...running].map((child) => child.exited));
      await Promise.all([...clients.values()].map((client) => client[Symbol.asyncDispose]()));
    },
  };
}

interface Call {
  call: number;
  server: string;
  tool: string;
  args: Record<string, unknown>;
}

async function answer(clients: Map<string, RawClient>, { call, server, tool, args }: Call): Promise<object> {
  try {
    const { structuredContent, content } = await clients.get(server)!.call(tool, args);
    return { settle: call, value: structuredContent ?? (content as { text: string }[])[0]?.text };
  } catch (error) {
    return { settle: call, error: String(error) };
  }
}
