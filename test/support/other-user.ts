/** Connections by a real second user of this machine, and by this user from unusual addresses. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./claudikins.ts";

/** The user and the group `nobody`. */
const other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/** A program of the other user can only be started by root, and must be able to run this Bun. */
const canBeOther =
  process.platform === "linux" &&
  process.getuid?.() === 0 &&
  Bun.which("setpriv") !== null &&
  Bun.spawnSync([...other, process.execPath, "-e", "0"], { cwd: "/" }).exitCode === 0;

/** For the titles of tests that are skipped. */
export const otherUserNote = canBeOther
  ? ""
  : " (skipped: needs Linux, root, setpriv and a Bun that everybody can run)";

export interface Connecting {
  /** Where to, and from which local address: the options of `net.connect`. */
  to: { host: string; port: number; localAddress?: string } | { path: string };
  bytes: string;
  /** Ends the program when the bytes are sent. */
  leaves?: boolean;
}

/** The other user cannot read the folder of this project. */
const program = readFileSync(join(root, "test", "fixtures", "connect.ts"), "utf8");

/** What the other user gets. */
export function asOtherUser(connecting: Connecting): Promise<string> {
  return answerTo([...other, process.execPath], connecting);
}

/** What this user gets, from another program. */
export function asThisUser(connecting: Connecting): Promise<string> {
  return answerTo([process.execPath], connecting);
}

async function answerTo(command: string[], connecting: Connecting): Promise<string> {
  const child = Bun.spawn([...command, "-e", program, JSON.stringify(connecting)], {
    cwd: "/",
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const text = await child.stdout.text();
  await child.exited;
  return text;
}

/** The local ends from which every user can connect to 127.0.0.1. */
export const loopbackEnds = [
  { host: "127.0.0.1", localAddress: "127.0.0.1" },
  { host: "127.0.0.1", localAddress: "127.0.0.2" },
  { host: "127.0.0.1", localAddress: "127.254.3.4" },
  { host: "::ffff:127.0.0.1", localAddress: "::ffff:127.0.0.1" },
  { host: "::ffff:127.0.0.1", localAddress: "::ffff:127.0.0.9" },
] as const;

/** An HTTP request that ends its connection. */
export function httpRequest(method: string, url: URL, headers: Record<string, string> = {}, body = ""): string {
  const all = { host: url.host, connection: "close", "content-length": String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${url.pathname}${url.search} HTTP/1.1`, ...lines, "", body].join("\r\n");
}

/** The status of an HTTP response, or the text if it is none. */
export function statusIn(answer: string): number | string {
  const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(answer) ?? [];
  return status === undefined ? answer.trim() : Number(status);
}
