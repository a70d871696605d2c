/** JSON for a reader who pays for every character: what fits on a line stands on one, and only the rest is broken. */

const width = 200;

/** Values below this level stand on one line, or the margins of deeply nested data would be longer than the data. */
const brokenLevels = 50;

/** `value` comes from JSON, so it has no cycles. Each level is indented by one space. The time is linear in the size. */
export function jsonText(value: unknown): string {
  const pieces: string[] = [];
  write(value, 0, pieces);
  return pieces.join("");
}

function write(value: unknown, level: number, pieces: string[]): void {
  if (value === null || typeof value !== "object" || level === brokenLevels) {
    pieces.push(JSON.stringify(value) ?? "null");
    return;
  }
  const line = lineOf(value, width - level);
  if (line !== undefined) {
    pieces.push(line);
    return;
  }
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const margin = `\n${" ".repeat(level + 1)}`;
  let before = `${open}${margin}`;
  for (const [key, each] of Object.entries(value)) {
    pieces.push(before, Array.isArray(value) ? "" : `${JSON.stringify(key)}: `);
    write(each, level + 1, pieces);
    before = `,${margin}`;
  }
  pieces.push(`\n${" ".repeat(level)}${close}`);
}

/** The value on one line; undefined where it has more than `room` characters. Looks no further than that. */
function lineOf(value: unknown, room: number): string | undefined {
  if (typeof value === "string" && value.length > room) return undefined;
  if (value === null || typeof value !== "object") {
    const json = JSON.stringify(value) ?? "null";
    return json.length <= room ? json : undefined;
  }
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  let line = open!;
  for (const key in value) {
    if (line.length > room) return undefined;
    const name = Array.isArray(value) ? "" : `${JSON.stringify(key)}: `;
    const comma = line.length > 1 ? ", " : "";
    const each = lineOf(value[key as keyof typeof value], room - line.length - comma.length - name.length - 1);
    if (each === undefined) return undefined;
    line += comma + name + each;
  }
  line += close;
  return line.length <= room ? line : undefined;
}
