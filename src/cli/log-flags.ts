/** The flags of the commands that show a log. */
export const defaultLines = 50;
export const maxLines = 1_000_000;

export const logFlags = {
  lines: {
    type: "string",
    short: "n",
    valueHint: "n",
    description: `Number of lines to show, from the end (default ${defaultLines})`,
  },
  follow: { type: "boolean", short: "f", description: "Show new lines as they are written, until Ctrl-C" },
} as const;
