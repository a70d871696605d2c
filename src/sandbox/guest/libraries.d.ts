/** Types for the parts that we use of libraries without types. */
declare module "core-js-pure/internals/path" {
  type Globals = Pick<typeof globalThis, "atob" | "btoa" | "structuredClone" | "URL" | "URLSearchParams">;
  const path: Globals & {
    Array: { fromAsync(items: unknown, map?: (item: unknown, index: number) => unknown): Promise<unknown[]> };
    DOMException: new (message?: string, name?: string) => Error;
  };
  export default path;
}
declare module "path-browserify" {
  const path: typeof import("node:path").posix;
  export default path;
}
declare module "events/" {
  const EventEmitter: typeof import("node:events").EventEmitter;
  export default EventEmitter;
}
declare module "event-target-shim" {
  export class Event {
    constructor(type: string, options?: { bubbles?: boolean; cancelable?: boolean });
    readonly type: string;
  }
  export class EventTarget {
    addEventListener(type: string, listener: (event: Event) => void, options?: { once?: boolean }): void;
    removeEventListener(type: string, listener: (event: Event) => void): void;
    dispatchEvent(event: Event): boolean;
  }
  export function setWarningHandler(handler: () => void): void;
}
