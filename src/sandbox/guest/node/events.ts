/** `node:events`, whose listeners may be async: what they do belongs to the program, and is waited for. */
import EventEmitter from "events/";
import { watch } from "../floating.ts";

const { emit } = EventEmitter.prototype;

EventEmitter.prototype.emit = function (
  this: InstanceType<typeof EventEmitter>,
  type: string | symbol,
  ...args: unknown[]
): boolean {
  const listeners = this.rawListeners(type);
  // An error that nobody listens to is thrown.
  if (listeners.length === 0) return Reflect.apply(emit, this, [type, ...args]);
  for (const listener of listeners) watch(Reflect.apply(listener, this, args));
  return true;
};

export { EventEmitter };
