/** The levels of MCP's logging, from the one with most to the one with least. */
const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** The one that lets through what any of these does; an unknown one lets through everything. */
export function lowestLevel(wanted: string[]): string {
  return levels[Math.min(...wanted.map((level) => Math.max(levels.indexOf(level), 0)))] ?? "debug";
}
