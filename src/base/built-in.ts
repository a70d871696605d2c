/** What scripts/build.ts has built into this executable. There is nothing when the program runs from source. */

export interface BuiltIn {
  version: string;
  /** A name of `setup/upgrade/platforms.ts`. */
  platform: string;
  /** Digest of the sources that a saved program depends on, see `sandbox/engine/program-sources.ts`. */
  programSources: string;
  /** The folder of the checkout that built it. Null in a released executable. */
  checkout: string | null;
}

/** The build replaces the name with an object. */
declare const BUILT_IN: BuiltIn;

export const builtIn: BuiltIn | undefined = typeof BUILT_IN === "undefined" ? undefined : BUILT_IN;
