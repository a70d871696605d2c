/** Whether sandboxes of servers can be tested on this machine. */
import { requireBubblewrap } from "../../src/servers/box/bubblewrap.ts";

/** Undefined if they can; otherwise why not, which is also printed. */
export const withoutSandbox: string | undefined = await requireBubblewrap(process.env["PATH"]).then(
  () => undefined,
  (error: Error) => error.message,
);
if (withoutSandbox !== undefined) console.warn(`Tests of sandboxes are skipped: ${withoutSandbox}`);
