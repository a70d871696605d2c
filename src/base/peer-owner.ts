/**
 * Tells whether a program of this user is at the other end of a local connection. Every user of a machine can connect to its loopback
 * addresses, and only Linux lists the owners of connections.
 */
import { readFile } from "node:fs/promises";
import { isIPv4 } from "node:net";
import { userOfSocket } from "./inet-diag.ts";

/** Number of searches in the system's tables of connections. A search can miss a row while other rows change. */
const maxPeerLooks = 3;

/** One end of a connection. */
export interface ConnectionEnd {
  address: string;
  port: number;
}

/** Why a connection is refused, with the next step. */
export interface PeerProblem {
  message: string;
  hint: string;
}

/** IPv4 connections of IPv6 sockets are in the second table. */
const tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];

/** The state of an open connection. In other states the listed user may be 0, because the program has closed its socket. */
const established = "01";

/**
 * Undefined if a program of this user, or of the administrator, has opened the connection. The administrator's programs are accepted
 * because they may forward connections, and the administrator can act as this user anyway. On systems that do not list owners (macOS,
 * Windows), every connection is accepted, and only secrets protect the listener. `userOf` is asked first, and may return undefined.
 */
export async function problemOfPeer(
  peer: ConnectionEnd | null,
  own: ConnectionEnd,
  userOf = userOfSocket,
): Promise<PeerProblem | undefined> {
  const us = process.getuid?.();
  if (process.platform !== "linux" || us === undefined) return undefined;
  if (!peer) return ofNobody;
  const [from, to] = [bytesOf(peer.address), bytesOf(own.address)];
  const owner = userOf(from, peer.port, to, own.port) ?? (await ownerInTables(peer, own));
  if (owner === "unknown") return unreadable;
  if (owner === "nobody") return ofNobody;
  return owner === us || owner === 0 ? undefined : ofOther;
}

/** Some systems, such as containers with few rights, answer only by these tables. */
async function ownerInTables(peer: ConnectionEnd, own: ConnectionEnd): Promise<number | "nobody" | "unknown"> {
  for (let look = 0; look < maxPeerLooks; look++) {
    const rows = await Promise.all(tables.map(rowsOf));
    const owner = ownerIn(rows, peer, own);
    if (owner !== undefined) return owner;
    if (rows.every((text) => text === undefined)) return "unknown";
  }
  return "nobody";
}

const ofOther: PeerProblem = {
  message: "Another user of this machine may not connect",
  hint: "Connect as the user who runs claudikins.",
};

const ofNobody: PeerProblem = {
  message: "No program on this machine owns this connection, so its user is not known",
  hint: "Connect from a program on this machine. From another machine, forward the port with ssh -L.",
};

const unreadable: PeerProblem = {
  message: `${tables[0]} cannot be read, so the user at the other end of this connection is not known`,
  hint: "Mount /proc where claudikins runs.",
};

/** Reads the table in a separate thread, because it is long on a busy machine. Undefined if it cannot be read. */
function rowsOf(table: string): Promise<string | undefined> {
  return readFile(table, "latin1").catch(() => undefined);
}

/** The user who has opened the connection from `peer` to `own`. Undefined if it is not listed. */
function ownerIn(
  [four = "", six = ""]: (string | undefined)[],
  peer: ConnectionEnd,
  own: ConnectionEnd,
): number | undefined {
  const [from, to] = [bytesOf(peer.address), bytesOf(own.address)];
  if (from.length !== to.length) return undefined;
  const row = rowWith(four, ends(from, peer.port, to, own.port));
  return row ?? rowWith(six, ends(mapped(from), peer.port, mapped(to), own.port));
}

/** Columns: slot, local address, remote address, state, queues, timer, retransmits, user, timeouts, inode. */
function rowWith(table: string, found: string): number | undefined {
  const start = table.indexOf(`: ${found} ${established} `);
  if (start < 0) return undefined;
  const columns = table.slice(start, table.indexOf("\n", start)).trim().split(/\s+/);
  const [user, inode] = [columns[7], columns[9]];
  return user === undefined || inode === undefined || inode === "0" ? undefined : Number(user);
}

function ends(from: number[], fromPort: number, to: number[], toPort: number): string {
  return `${hexOf(from)}:${hex(fromPort, 4)} ${hexOf(to)}:${hex(toPort, 4)}`;
}

/** The table shows each four bytes as a number of the machine, which has its lowest byte first. */
function hexOf(bytes: number[]): string {
  const words = Array.from({ length: bytes.length / 4 }, (_, place) => bytes.slice(4 * place, 4 * place + 4));
  return words
    .map((word) =>
      word
        .reverse()
        .map((byte) => hex(byte, 2))
        .join(""),
    )
    .join("");
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, "0");
}

function mapped(bytes: number[]): number[] {
  return bytes.length === 16 ? bytes : [...Array.from({ length: 10 }, () => 0), 255, 255, ...bytes];
}

/** Four bytes, also of an IPv4 address that is written as an IPv6 address, or sixteen. */
function bytesOf(address: string): number[] {
  if (isIPv4(address)) return address.split(".").map(Number);
  const [plain] = address.split("%");
  const [head = [], tail = []] = new URL(`http://[${plain}]`).hostname
    .slice(1, -1)
    .split("::")
    .map((part) =>
      part
        .split(":")
        .filter(Boolean)
        .map((group) => Number.parseInt(group, 16)),
    );
  const groups = [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail];
  const bytes = groups.flatMap((group) => [group >> 8, group & 255]);
  return mapped(bytes.slice(12)).every((byte, place) => byte === bytes[place]) ? bytes.slice(12) : bytes;
}
