/** A hostile server in a sandbox gets nothing of what it gets without one. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import type { Box } from "../../../src/config/box.ts";
import type { Pool } from "../../../src/servers/pool.ts";
import { root } from "../../support/claudikins.ts";
import { eventually } from "../../support/eventually.ts";
import { openPool, plainValue, type ServerEntry, surroundings } from "../../support/pool.ts";
import { processesLeft, processesWith } from "../../support/process.ts";
import { withoutSandbox } from "../../support/sandbox.ts";
import { diskFolder, type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

const secret = "the secret of the user";

/** Everything that the intruder tries to reach. */
interface Prey {
  folder: TemporaryFolder;
  home: string;
  writable: string;
  outside: string;
  victim: Bun.Subprocess;
  port: number;
  listed: number;
  udp: number;
  socket: string;
  abstract: string;
}

let prey: Prey;
let pool: Pool;
const ends: (() => unknown)[] = [];

/** A TCP or Unix server that greets, and answers a request with a page. */
async function greeter(place: { port: number; host: string } | { path: string }, page = "greetings"): Promise<Server> {
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.write("HTTP/1.0 200 OK\r\n\r\n");
    socket.end(page);
  });
  ends.push(() => server.close());
  await new Promise<void>((resolve) => server.listen(place, resolve));
  return server;
}

const portOf = (server: Server) => (server.address() as { port: number }).port;

async function listenUdp(): Promise<UdpSocket> {
  const socket = createSocket("udp4");
  socket.on("message", (_, from) => socket.send("greetings", from.port, from.address));
  ends.push(() => socket.close());
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return socket;
}

/** The program is a copy, because it tries to write to its own folder. */
const intruder = (folder: string, box: Box | undefined): ServerEntry => ({
  command: "bun",
  args: [join(folder, "program", "intruder.ts")],
  box,
  // Without a sandbox, the other servers read the secret. Nobody is asked whether it may go on.
  policy: { allow: [], deny: [], confirm: [], own: undefined, flow: "off" },
});

beforeAll(async () => {
  if (withoutSandbox !== undefined) return;
  const folder = temporaryFolder(diskFolder);
  const home = join(folder.path, "home");
  const [writable, outside] = [join(folder.path, "writable"), join(folder.path, "outside")];
  for (const each of [home, writable, outside]) mkdirSync(each);
  folder.write("home/.ssh/id_ed25519", secret);
  folder.write("home/.local/share/claudikins/credentials.json", secret);
  folder.write("home/other-server/data.json", secret);
  folder.write("outside/file", secret);
  folder.write("program/package.json", {});
  copyFileSync(join(root, "test", "fixtures", "servers", "intruder.ts"), join(folder.path, "program", "intruder.ts"));
  const victim = Bun.spawn(["sleep", "120"], { env: { SECRET: secret }, stdio: ["ignore", "ignore", "ignore"] });
  const local = { port: 0, host: "127.0.0.1" };
  const [unlisted, listed] = [await greeter(local), await greeter(local, "the listed page")];
  const socket = join(folder.path, "daemon.sock");
  await greeter({ path: socket });
  const abstract = `claudikins-test-${process.pid}`;
  const listener = Bun.spawn(
    [
      "bun",
      "-e",
      `require("node:net").createServer().listen("\\0${abstract}", () => console.log("listening")); setTimeout(() => {}, 120_000)`,
    ],
    { stdio: ["ignore", "pipe", "inherit"], env: { PATH: process.env["PATH"] ?? "" } },
  );
  await listener.stdout.getReader().read();
  ends.push(
    () => listener.kill(),
    () => victim.kill("SIGKILL"),
    () => folder[Symbol.dispose](),
  );
  prey = {
    ...{ folder, home, writable, outside, victim, socket, abstract },
    port: portOf(unlisted),
    listed: portOf(listed),
    udp: (await listenUdp()).address().port,
  };
  pool = open(["free", "boxed", "hosts"]);
});

function open(names: string[]): Pool {
  const { folder, writable, listed, home } = prey;
  const boxes: Record<string, Box | undefined> = {
    free: undefined,
    boxed: { read: [], write: [writable], network: false },
    hosts: { read: [], write: [], network: [`127.0.0.1:${listed}`] },
  };
  const scene = surroundings(folder.path);
  const entries = names.map((name) => [name, intruder(folder.path, boxes[name])]);
  return openPool(Object.fromEntries(entries), { ...scene, env: { ...scene.env, HOME: home } });
}

afterAll(async () => {
  await pool?.close();
  if (prey) expect(await processesLeft(prey.folder.path)).toEqual([]);
  for (const end of ends.reverse()) await end();
});

const attempt = async (server: string, tool: string, args: Record<string, string>) =>
  String(plainValue(await pool.callTool(server, tool, args, {})));

/** What is tried, with which arguments, and what it gets without a sandbox. */
type Try = [title: string, tool: string, args: () => Record<string, string>, got: string | RegExp];

const files: Try[] = [
  ["a key of SSH", "read", () => ({ path: join(prey.home, ".ssh", "id_ed25519") }), secret],
  [
    "the store of claudikins",
    "read",
    () => ({ path: join(prey.home, ".local/share/claudikins/credentials.json") }),
    secret,
  ],
  ["the folder of another server", "read", () => ({ path: join(prey.home, "other-server", "data.json") }), secret],
  ["a file beside its folder", "read", () => ({ path: join(prey.writable, "..", "outside", "file") }), secret],
  [
    "a file through the root of another process",
    "read",
    () => ({ path: `/proc/${prey.victim.pid}/root${prey.outside}/file` }),
    secret,
  ],
  ["a file through the root of process 1", "read", () => ({ path: `/proc/self/root${prey.outside}/file` }), secret],
  ["a file of /etc that no program needs", "read", () => ({ path: "/etc/hostname" }), /./],
  ["the environment of another process", "read", () => ({ path: `/proc/${prey.victim.pid}/environ` }), secret],
  ["the command of another process", "read", () => ({ path: `/proc/${prey.victim.pid}/cmdline` }), "sleep"],
  ["the home folder", "list", () => ({ path: join(prey.home, ".ssh") }), "id_ed25519"],
  ["devices of the machine", "list", () => ({ path: "/sys/class" }), "net"],
];

const writes: Try[] = [
  ["a file outside", "write", () => ({ path: join(prey.outside, "new") }), "written"],
  ["the folder of its program", "write", () => ({ path: join(prey.folder.path, "program", "new") }), "written"],
  [
    "through a link in its folder",
    "write-through-link",
    () => ({ folder: prey.writable, to: prey.outside }),
    "written",
  ],
  ["through a folder that it renamed", "rename-parent", () => ({ folder: prey.writable, to: prey.outside }), "written"],
];

const connections: Try[] = [
  ["by address", "connect", () => ({ host: "127.0.0.1", port: `${prey.port}` }), "200 OK"],
  ["by name", "connect", () => ({ host: "localhost", port: `${prey.port}` }), "200 OK"],
  ["by UDP, as to a server of names", "udp", () => ({ host: "127.0.0.1", port: `${prey.udp}` }), "greetings"],
  ["to the socket of a daemon", "socket", () => ({ path: prey.socket }), "200 OK"],
  ["to an abstract socket, as of D-Bus", "abstract", () => ({ name: prey.abstract }), "connected"],
];

const processes: Try[] = [
  ["sends a signal", "kill", () => ({ pid: `${prey.victim.pid}` }), "killed"],
  // A setting of the kernel may allow it to root only.
  ["traces", "trace", () => ({ pid: `${prey.victim.pid}` }), "traced"],
  ["mounts in a namespace of its own", "mount", () => ({}), "done"],
];

describe.skipIf(withoutSandbox !== undefined)("a hostile server", () => {
  for (const [what, tries] of Object.entries({ reads: files, writes, connects: connections, "": processes })) {
    test.each(tries)(`${what} %s only without a sandbox`.trim(), async (_, tool, args, got) => {
      expect(await attempt("boxed", tool, args())).toStartWith("refused: ");
      expect(await attempt("free", tool, args())).toMatch(got);
    });
  }

  test("writes to its own folder", async () => {
    const path = join(prey.writable, "own");
    expect(await attempt("boxed", "write", { path })).toBe("got: written");
    expect(readFileSync(path, "utf8")).toBe("by the intruder");
  });

  test("sees no variable of claudikins that it would not get without a sandbox", async () => {
    const [free, boxed] = await Promise.all(
      ["free", "boxed"].map(async (server) =>
        JSON.parse((await attempt(server, "environment", {})).slice("got: ".length)),
      ),
    );
    expect(
      Object.keys(boxed)
        .filter((name) => !(name in free))
        .sort(),
    ).toEqual(["PWD", "TMPDIR"]);
  });

  test("leaves no process behind", async () => {
    const left = async (server: string) => {
      const mark = `${prey.folder.path}-left-by-${server}`;
      await using own = open([server]);
      plainValue(await own.callTool(server, "leave", { mark }));
      await eventually(() => processesWith(mark).length > 0);
      await own.close();
      return mark;
    };
    expect(await processesLeft(await left("boxed"))).toEqual([]);
    const survivors = processesWith(await left("free"));
    expect(survivors).not.toEqual([]);
    for (const pid of survivors) process.kill(pid, "SIGKILL");
  });
});

describe.skipIf(withoutSandbox !== undefined)("the proxy of a hostile server", () => {
  test("connects to a listed address", async () => {
    expect(await attempt("hosts", "tunnel", { target: `127.0.0.1:${prey.listed}` })).toContain("the listed page");
  });

  test.each([
    ["another port", () => `127.0.0.1:${prey.port}`],
    ["another name", () => "example.com:443"],
    ["a name that leads to the listed address", () => `localhost:${prey.listed}`],
    ["a null byte", () => `127.0.0.1\0.example.com:${prey.listed}`],
    ["an address of IPv6", () => `[::1]:${prey.listed}`],
    ["an address of IPv4 in IPv6", () => `[::ffff:127.0.0.1]:${prey.listed}`],
    ["a user name", () => `127.0.0.1@localhost:${prey.listed}`],
    ["a trailing dot", () => `127.0.0.1.:${prey.listed}`],
    ["an address in one number", () => `2130706433:${prey.listed}`],
    ["a short address", () => `127.1:${prey.listed}`],
    ["a port out of range", () => `127.0.0.1:${65_536 + 443}`],
    ["a second line", () => `127.0.0.1:${prey.port} HTTP/1.1\r\nHost: 127.0.0.1:${prey.listed}\r\nX:`],
  ])("refuses %s", async (_, target) => {
    expect(await attempt("hosts", "tunnel", { target: target() })).toMatch(/^refused: HTTP\/1\.1 403/);
  });

  test("is the only way out", async () => {
    const direct = { host: "127.0.0.1", port: `${prey.listed}` };
    expect(await attempt("hosts", "connect", direct)).toStartWith("refused: ");
    expect(await attempt("free", "connect", direct)).toContain("200 OK");
  });
});
