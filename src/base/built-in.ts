/** Values that scripts/build.ts builds into the executable. A run from source has none. */

export interface BuiltIn {
  version: string;
  /** A name of `setup/upgrade/platforms.ts`. */
  platform: string;
  /** The number in `program-format.ts`, or another one for tests. */
  programFormat: number;
  /** The folder of the checkout that built it. Null in a released executable. */
  checkout: string | null;
}

/** The build replaces the name with an object. */
declare const BUILT_IN: BuiltIn;

export const builtIn: BuiltIn | undefined = typeof BUILT_IN === "undefined" ? undefined : BUILT_IN;
