/** JSON for a reader who pays for every character: what fits on a line stands on one, and only the rest is broken. */

const width = 200;

/** Of what JSON has given, so without cycles. One space for a level. */
export function jsonText(value: unknown): string {
  return render(value, 0);
}

function render(value: unknown, indent: number): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const isList = Array.isArray(value);
  const [open, close] = isList ? "[]" : "{}";
  const parts = isList
    ? value.map((each) => render(each, indent + 1))
    : Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${render(each, indent + 1)}`);
  const room = width - indent;
  if (parts.reduce((sum, part) => sum + part.length + 2, 2) <= room && !parts.some((part) => part.includes("\n"))) {
    return `${open}${parts.join(", ")}${close}`;
  }
  const margin = " ".repeat(indent + 1);
  return `${open}\n${parts.map((part) => margin + part).join(",\n")}\n${" ".repeat(indent)}${close}`;
}
