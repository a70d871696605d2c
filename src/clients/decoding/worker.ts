/** The thread in which large messages of servers are parsed. */
import { answerJobs } from "../../off-thread.ts";
import { decode, type Packed, pack } from "./decode.ts";

declare const self: Worker;

answerJobs<Uint8Array[], Packed | undefined>(self, (parts) => {
  const decoded = decode(parts.length === 1 ? parts[0]! : Buffer.concat(parts));
  return decoded && pack(decoded);
});
