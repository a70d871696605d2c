/** The version of claudikins. It is defined only in package.json; the build can choose another one for tests. */
import manifest from "../../package.json" with { type: "json" };
import { builtIn } from "./built-in.ts";

export const version: string = builtIn?.version ?? manifest.version;

export const repository = "https://github.com/claudikins/claudikins";

/** The address of the documentation. */
export const documentation = `${repository}/tree/main/docs`;
