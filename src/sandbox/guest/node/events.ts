/** `node:events`. Listeners may be async: the program ends only after their promises settle. */
import { watch } from "../floating.ts";
import { EventEmitter } from "../library.ts";

const { emit } = EventEmitter.prototype;

EventEmitter.prototype.emit = function (
  this: InstanceType<typeof EventEmitter>,
  type: string | symbol,
  ...args: unknown[]
): boolean {
  const listeners = this.rawListeners(type);
  // The library throws an "error" event that has no listener.
  if (listeners.length === 0) return Reflect.apply(emit, this, [type, ...args]);
  for (const listener of listeners) watch(Reflect.apply(listener, this, args));
  return true;
};

export { EventEmitter };
