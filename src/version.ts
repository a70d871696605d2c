/** The version of this program, from package.json, so that it is said in one place. */
import manifest from "../package.json" with { type: "json" };

export const version: string = manifest.version;

/** Where the documentation of this version is read. */
export const documentation = "https://github.com/claudikins/claudikins/tree/main/docs";
