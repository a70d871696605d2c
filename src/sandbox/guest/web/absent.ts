/** What is not there on purpose: using it says what to use instead. */

const network = "There is no network in here: call a tool of a server, or tools.search for one.";
const threads = "There are no threads in here: everything runs in this program.";

/** May be called and constructed, and always throws. A server of that name takes its place. */
function refusing(name: string, why: string): unknown {
  function refuse(): never {
    throw new Error(`${name}: ${why}`);
  }
  return refuse;
}

export const absent: Record<string, unknown> = {
  fetch: refusing("fetch", network),
  XMLHttpRequest: refusing("XMLHttpRequest", network),
  WebSocket: refusing("WebSocket", network),
  EventSource: refusing("EventSource", network),
  Worker: refusing("Worker", threads),
};
