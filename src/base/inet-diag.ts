/**
 * Asks Linux for the user of one TCP socket, by sock_diag(7). It takes some microseconds; the tables of /proc list all sockets of the machine,
 * which takes milliseconds.
 */
import { ptr } from "bun:ffi";
import { openLibrary } from "./c-library.ts";

/** From linux/netlink.h, linux/sock_diag.h and linux/inet_diag.h. */
const netlinkFamily = 16;
const rawSocket = 3;
const closeOnExec = 0o2000000;
const sockDiagProtocol = 4;
const dontWait = 0x40;
const sockDiagByFamily = 20;
const requestFlag = 1;
const tcp = 6;
const families = { 4: 2, 16: 10 };
const established = 1;
const anyCookie = 0xffffffff;

/** `struct nlmsghdr`, which comes before everything else. */
const headerBytes = 16;
/** The header and `struct inet_diag_req_v2`. */
const requestBytes = headerBytes + 56;
/** The header and `struct inet_diag_msg`. */
const answerBytes = headerBytes + 72;
/** Offsets in the answer. */
const at = {
  type: 4,
  sequence: 8,
  family: headerBytes,
  state: headerBytes + 1,
  ends: headerBytes + 4,
  user: headerBytes + 64,
  inode: headerBytes + 68,
};
/** The bytes of an address in `struct inet_diag_sockid`. */
const addressBytes = 16;

type System = NonNullable<ReturnType<typeof openSystem>>;

function openSystem() {
  const library = openLibrary({
    socket: { args: ["int", "int", "int"], returns: "int" },
    send: { args: ["int", "ptr", "u64", "int"], returns: "i64" },
    recv: { args: ["int", "ptr", "u64", "int"], returns: "i64" },
  });
  if (!library) return undefined;
  const socket = library.symbols.socket(netlinkFamily, rawSocket | closeOnExec, sockDiagProtocol);
  return socket < 0 ? undefined : { ...library.symbols, socket };
}

let system: System | null | undefined;
let sequence = 0;

/**
 * The user of the open socket with these ends: addresses of 4 or of 16 bytes, the socket's own first. Undefined if there is none, or if the
 * system does not say.
 */
export function userOfSocket(
  from: readonly number[],
  fromPort: number,
  to: readonly number[],
  toPort: number,
): number | undefined {
  const family = families[from.length as 4 | 16];
  if (process.platform !== "linux" || family === undefined || from.length !== to.length) return undefined;
  system ??= openSystem() ?? null;
  if (!system) return undefined;
  const request = new Uint8Array(requestBytes);
  const view = new DataView(request.buffer);
  sequence = (sequence + 1) >>> 0;
  view.setUint32(0, requestBytes, true);
  view.setUint16(at.type, sockDiagByFamily, true);
  view.setUint16(6, requestFlag, true);
  view.setUint32(at.sequence, sequence, true);
  request.set([family, tcp], headerBytes);
  view.setUint32(headerBytes + 4, 1 << established, true);
  const ends = headerBytes + 8;
  view.setUint16(ends, fromPort);
  view.setUint16(ends + 2, toPort);
  request.set(from, ends + 4);
  request.set(to, ends + 20);
  view.setUint32(ends + 40, anyCookie, true);
  view.setUint32(ends + 44, anyCookie, true);
  if (Number(system.send(system.socket, ptr(request), requestBytes, 0)) !== requestBytes) return undefined;
  const answer = answerTo(system, sequence);
  if (answer?.[at.state] !== established || answer.readUInt32LE(at.inode) === 0) return undefined;
  // If no such socket is open, the answer is about one that listens.
  const [ownPort, otherPort] = [answer.readUInt16BE(at.ends), answer.readUInt16BE(at.ends + 2)];
  const isAsked =
    ownPort === fromPort && otherPort === toPort && hasAddress(answer, 0, from) && hasAddress(answer, 1, to);
  return isAsked ? answer.readUInt32LE(at.user) : undefined;
}

/** An IPv6 socket has its IPv4 connections with addresses of 16 bytes, and ten zeros and two 255 before the four. */
function hasAddress(answer: Buffer, place: 0 | 1, address: readonly number[]): boolean {
  const start = at.ends + 4 + place * addressBytes;
  const isMapped = answer[at.family] === families[16] && address.length === 4;
  const shown = isMapped ? [...new Array(10).fill(0), 255, 255, ...address] : address;
  return shown.every((byte, index) => answer[start + index] === byte);
}

/** Undefined if it is an error, or is missing. Answers to earlier requests are skipped. */
function answerTo({ recv, socket }: System, wanted: number): Buffer | undefined {
  const answer = Buffer.alloc(answerBytes);
  for (;;) {
    const bytes = Number(recv(socket, ptr(answer), answerBytes, dontWait));
    if (bytes < headerBytes) return undefined;
    if (answer.readUInt32LE(at.sequence) !== wanted) continue;
    return bytes === answerBytes && answer.readUInt16LE(at.type) === sockDiagByFamily ? answer : undefined;
  }
}
