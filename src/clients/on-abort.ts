/** One listener a signal, however many wait for it: a signal searches through all that it has for each new one. */

interface Waiting {
  callbacks: Set<() => void>;
  tellAll: () => void;
}

const waitingFor = new WeakMap<AbortSignal, Waiting>();

/** Calls back once, when the signal is aborted; at once when it is already. Returns what takes it back. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (!signal) return () => {};
  if (signal.aborted) {
    callback();
    return () => {};
  }
  const { callbacks, tellAll } = waitingFor.get(signal) ?? listenTo(signal);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size > 0 || signal.aborted) return;
    signal.removeEventListener("abort", tellAll);
    waitingFor.delete(signal);
  };
}

function listenTo(signal: AbortSignal): Waiting {
  const callbacks = new Set<() => void>();
  const tellAll = () => {
    for (const tell of callbacks) tell();
  };
  signal.addEventListener("abort", tellAll, { once: true });
  const waiting = { callbacks, tellAll };
  waitingFor.set(signal, waiting);
  return waiting;
}
