/** What `bun run results` needs to know about one server: how it is started, and the calls that show what its tools return. */

/** What the calls of a plan may use. */
export interface World {
  /** A folder of its own, empty at first. */
  folder: string;
  /** The address of a small page on this machine. */
  page: string;
  /** The text of the last answer, for ids that the next call needs. */
  last: string;
}

export interface Plan {
  /** The folder of the server in the catalog, such as `files/filesystem`. */
  server: string;
  /** The npm package, with its exact version. */
  package: string;
  /** How the server is started, if it is not a package to install. */
  starts?: Start;
  /** Versions of packages that the server needs, where npm would choose another. */
  overrides?: Readonly<Record<string, string>>;
  /** Native packages that npm must build after it has installed them. */
  rebuild?: readonly string[];
  args?: (world: World) => readonly string[];
  env?: (world: World) => Readonly<Record<string, string>>;
  /** Writes what the server works on. */
  prepare?: (world: World) => void;
  /** In this order, over one connection. */
  calls: readonly PlannedCall[];
  /** The tools of most tasks, which agents see on the first day, if they recognise the server. A few with short arguments. */
  usual?: readonly string[];
  /** The tools that no call can try, and why. All others are called. */
  leftOut?: Readonly<Record<string, string>>;
}

export interface Start {
  command: string;
  args: readonly string[];
}

export interface PlannedCall {
  tool: string;
  args?: (world: World) => Record<string, unknown>;
  /** The format of a text that the tool returns, or what the type of a value does not tell. */
  text?: TextFormat;
  /** The names of the fields are data, such as the columns of a query, so they are not written. */
  fieldsAreData?: boolean;
  /** How often the call is made if it fails: once by default. */
  tries?: number;
}

export interface TextFormat {
  /** One line in our own words. */
  says: string;
  /** Every answer must match it, or `bun run results` fails: the server has changed. See `textOf`. */
  pattern: RegExp;
}

/**
 * The text in a value as a program gets it: a text itself, the only text of an object, or the texts of blocks, where a block without a
 * text is its type in brackets: `[image]`. Other values are JSON.
 */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (isBlocks(value)) return value.map(({ type, text }) => text ?? `[${type}]`).join("\n");
  const [only, ...others] = typeof value === "object" && value !== null ? Object.values(value) : [];
  return typeof only === "string" && others.length === 0 ? only : JSON.stringify(value);
}

function isBlocks(value: unknown): value is { type: string; text?: string }[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each?.type === "string");
}
