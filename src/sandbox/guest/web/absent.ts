/** Globals that are missing on purpose. Using one throws an error that says what to use instead. */

const network = "The sandbox has no network: call a server's tool, or find one with tools.search.";
const threads = "The sandbox has no threads: everything runs in this program.";

/** Returns a function that throws when it is called or constructed. A server with the same name replaces it. */
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
