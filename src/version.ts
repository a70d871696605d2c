/** The version of claudikins. It is defined only in package.json. */
import manifest from "../package.json" with { type: "json" };

export const version: string = manifest.version;

/** The address of the documentation. */
export const documentation = "https://github.com/claudikins/claudikins/tree/main/docs";
