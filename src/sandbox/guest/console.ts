/** `console`: every line goes to the host, in order and with its level. */
import { host } from "./host.ts";
import { show } from "./values.ts";

let indent = "";
const counts = new Map<string, number>();
const timers = new Map<string, number>();

function write(level: string, values: unknown[]): void {
  const text = format(values);
  host.log(level, indent ? text.replace(/^/gm, indent) : text);
}

function format(values: unknown[]): string {
  const [first, ...rest] = values;
  if (typeof first !== "string" || !first.includes("%")) return values.map(show).join(" ");
  const text = first.replace(/%([sdifoOj%])/g, (whole, kind: string) => {
    if (kind === "%") return "%";
    if (rest.length === 0) return whole;
    const value = rest.shift();
    if (kind === "d" || kind === "f") return String(Number(value));
    if (kind === "i") return String(Math.trunc(Number(value)));
    return show(value);
  });
  return [text, ...rest.map(show)].join(" ");
}

const elapsed = (label: string) => `${label}: ${(host.now() - (timers.get(label) ?? host.now())).toFixed(1)}ms`;

export const guestConsole = {
  log: (...values: unknown[]) => write("log", values),
  info: (...values: unknown[]) => write("info", values),
  debug: (...values: unknown[]) => write("debug", values),
  warn: (...values: unknown[]) => write("warn", values),
  error: (...values: unknown[]) => write("error", values),
  trace: (...values: unknown[]) => write("debug", values),
  dir: (value: unknown) => write("log", [value]),
  table: (rows: unknown) => write("log", [rows]),
  assert: (condition: unknown, ...values: unknown[]) => {
    if (!condition) write("error", ["Assertion failed", ...values]);
  },
  count: (label = "default") => {
    counts.set(label, (counts.get(label) ?? 0) + 1);
    write("log", [`${label}: ${counts.get(label)}`]);
  },
  countReset: (label = "default") => void counts.delete(label),
  group: (...values: unknown[]) => {
    if (values.length > 0) write("log", values);
    indent += "  ";
  },
  groupCollapsed: (...values: unknown[]) => guestConsole.group(...values),
  groupEnd: () => {
    indent = indent.slice(2);
  },
  time: (label = "default") => void timers.set(label, host.now()),
  timeLog: (label = "default", ...values: unknown[]) => write("log", [elapsed(label), ...values]),
  timeEnd: (label = "default") => {
    write("log", [elapsed(label)]);
    timers.delete(label);
  },
};
