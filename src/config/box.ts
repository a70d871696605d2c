/** The box of a server, which texts call a server sandbox: its setting in the config, and which of several settings counts. */

/** The program that confines servers. */
export const boxEngine = "bubblewrap";

/** `sandbox` as it is written: an entry's own, or the default for all entries of a config. */
export type BoxEntry =
  | boolean
  | { read?: string[] | undefined; write?: string[] | undefined; network?: boolean | string[] | undefined };

/** What a confined server may read, write and reach, besides its own program. */
export interface Box {
  /** Files and folders. Relative paths are resolved against the working directory of the server. */
  read: string[];
  /** Files and folders that it may also read. */
  write: string[];
  /** Whether it shares the network of the machine, or the hosts that it may connect to: `host`, `*.host`, `host:port`. */
  network: boolean | string[];
}

/** The settings for one server of a config. */
interface BoxSettings {
  entry: BoxEntry | undefined;
  /** The default of the config. */
  common: BoxEntry | undefined;
}

/**
 * The box of an entry, or undefined. `user` is given for an entry of a project: it has the settings of the user's own config, which the project
 * cannot lift. The box of the user's own entry of the same name counts alone, and the user's default confines entries that have none.
 */
export function boxOf({ entry, common }: BoxSettings, user?: BoxSettings): Box | undefined {
  const own = openedBy(entry ?? common);
  if (!user) return own;
  return openedBy(user.entry) ?? own ?? openedBy(user.common);
}

function openedBy(entry: BoxEntry | undefined): Box | undefined {
  if (entry === undefined || entry === false) return undefined;
  const { read = [], write = [], network = false } = entry === true ? {} : entry;
  return { read, write, network: Array.isArray(network) && network.length === 0 ? false : network };
}
