/** Compact JSON: a value that fits on a line stays on one line. */

/** Levels of JSON that are broken into lines. Otherwise the indentation of deeply nested data would be longer than the data. */
const maxBrokenLevels = 50;

/** Characters of a line of JSON. */
const jsonLineChars = 200;

/** Writes a value as JSON with one space per level. The value must have no cycles. Takes linear time. */
export function jsonText(value: unknown): string {
  const pieces: string[] = [];
  write(value, 0, pieces);
  return pieces.join("");
}

function write(value: unknown, level: number, pieces: string[]): void {
  if (value === null || typeof value !== "object" || level === maxBrokenLevels) {
    pieces.push(JSON.stringify(value) ?? "null");
    return;
  }
  const line = lineOf(value, jsonLineChars - level);
  if (line !== undefined) {
    pieces.push(line);
    return;
  }
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const margin = `\n${" ".repeat(level + 1)}`;
  let before = `${open}${margin}`;
  for (const { name, each } of membersOf(value)) {
    pieces.push(before, name);
    write(each, level + 1, pieces);
    before = `,${margin}`;
  }
  pieces.push(`\n${" ".repeat(level)}${close}`);
}

/** Writes the value on one line. Returns undefined as soon as it has more than `room` characters. */
function lineOf(value: unknown, room: number): string | undefined {
  if (typeof value === "string" && value.length > room) return undefined;
  if (value === null || typeof value !== "object") {
    const json = JSON.stringify(value) ?? "null";
    return json.length <= room ? json : undefined;
  }
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  let line = open!;
  for (const { name, each } of membersOf(value)) {
    if (line.length > room) return undefined;
    const comma = line.length > 1 ? ", " : "";
    const text = lineOf(each, room - line.length - comma.length - name.length - 1);
    if (text === undefined) return undefined;
    line += comma + name + text;
  }
  line += close;
  return line.length <= room ? line : undefined;
}

/** The members with what is written before each. The keys of a long array are never made: that would take longer than the rest. */
function* membersOf(value: object): Generator<{ name: string; each: unknown }> {
  if (Array.isArray(value)) for (const each of value) yield { name: "", each };
  else for (const key in value) yield { name: `${JSON.stringify(key)}: `, each: value[key as keyof typeof value] };
}
