/** What every shop says about claudikins, taken from package.json, and how npx starts it. */
import manifest from "../../package.json" with { type: "json" };

export const { name, version, description, license, keywords } = manifest;

/** The page of the repository. */
export const repository = manifest.homepage.replace(/#.*$/, "");
export const author = { name: "The claudikins authors", url: repository };

/** The name in the official MCP registry. The npm package repeats it as `mcpName`, which proves that both have the same owner. */
export const registryName = "io.github.claudikins/claudikins";

/**
 * The words that run the newest claudikins. npx uses the `.npmrc` and the packages of the project that an agent works on, which may
 * come from anybody. With `--prefix /` it uses those of the root folder instead. The working directory stays the same.
 */
export const npxWords: [string, ...string[]] = ["npx", "--prefix", "/", "-y", name];
