/** `console`: sends every line to the host, in order and with its level. */
import { host } from "./host.ts";
import type { InspectOptions } from "./inspect.ts";
import { inspected, logged } from "./logged.ts";
import { textTable } from "./text-table.ts";

let indent = "";
const counts = new Map<string, number>();
const timers = new Map<string, number>();

function write(level: string, values: unknown[]): void {
  print(level, logged(values));
}

function print(level: string, text: string): void {
  host.log(level, indent ? text.replace(/^/gm, indent) : text);
}

function time(label: string, values: unknown[]): void {
  const since = timers.get(label);
  if (since === undefined) write("warn", [`There is no timer called "${label}"`]);
  else write("log", [`${label}: ${(host.now() - since).toFixed(1)}ms`, ...values]);
}

export const guestConsole = {
  log: (...values: unknown[]) => write("log", values),
  info: (...values: unknown[]) => write("info", values),
  debug: (...values: unknown[]) => write("debug", values),
  warn: (...values: unknown[]) => write("warn", values),
  error: (...values: unknown[]) => write("error", values),
  trace: (...values: unknown[]) => write("debug", ["Trace:", ...values]),
  dir: (value: unknown, options: InspectOptions = {}) =>
    print("log", inspected(value, { customInspect: false, ...options })),
  dirxml: (...values: unknown[]) => write("log", values),
  table: (rows: unknown, columns?: string[]) => {
    const table = textTable(rows, columns);
    if (table === undefined) write("log", [rows]);
    else print("log", table);
  },
  assert: (condition: unknown, ...values: unknown[]) => {
    if (condition) return;
    const [first, ...rest] = values;
    if (typeof first === "string") write("error", [`Assertion failed: ${first}`, ...rest]);
    else write("error", values.length === 0 ? ["Assertion failed"] : ["Assertion failed:", ...values]);
  },
  clear: () => {},
  count: (label: unknown = "default") => {
    const name = String(label);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    print("log", `${name}: ${count}`);
  },
  countReset: (label: unknown = "default") => void counts.delete(String(label)),
  group: (...values: unknown[]) => {
    if (values.length > 0) write("log", values);
    indent += "  ";
  },
  groupCollapsed: (...values: unknown[]) => guestConsole.group(...values),
  groupEnd: () => {
    indent = indent.slice(2);
  },
  time: (label: unknown = "default") => void timers.set(String(label), host.now()),
  timeLog: (label: unknown = "default", ...values: unknown[]) => time(String(label), values),
  timeEnd: (label: unknown = "default") => {
    time(String(label), []);
    timers.delete(String(label));
  },
  timeStamp: () => {},
  profile: () => {},
  profileEnd: () => {},
};
