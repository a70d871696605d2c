/** The thread in which large messages of servers are parsed. */
import { answerJobs } from "../../off-thread.ts";
import { type Decoded, decode } from "./decode.ts";

declare const self: Worker;

answerJobs<Uint8Array, Decoded | undefined>(self, decode);
