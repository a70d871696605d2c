/** A name server that knows one name, and answers with all of its addresses. */
import { createSocket } from "node:dgram";
import { once } from "node:events";

/** The kinds of records and the flags of RFC 1035. */
const addressRecord = 1;
const isAnswer = 0x8180;

/** Asks `addresses` for each query. They are of IPv4. */
export async function nameServer(name: string, addresses: () => string[]): Promise<{ port: number } & Disposable> {
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    socket.send(answerTo(query, name, addresses()), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return { port: socket.address().port, [Symbol.dispose]: () => void socket.close() };
}

function answerTo(query: Buffer, name: string, addresses: string[]): Buffer {
  const labels = Buffer.concat(name.split(".").map((part) => Buffer.from([part.length, ...Buffer.from(part)])));
  const end = 12 + labels.length + 1;
  const isAsked = query.subarray(12, end - 1).equals(labels) && query.readUInt16BE(end) === addressRecord;
  const records = isAsked ? addresses.map(recordOf) : [];
  const head = Buffer.alloc(12);
  head.writeUInt16BE(query.readUInt16BE(0), 0);
  head.writeUInt16BE(isAnswer, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  return Buffer.concat([head, query.subarray(12, end + 4), ...records]);
}

/** The name is that of the question, and the record is valid for no longer than now. */
function recordOf(address: string): Buffer {
  return Buffer.from([0xc0, 12, 0, addressRecord, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]);
}
