/** What every shop says about claudikins, taken from package.json, and how a plugin starts it. */
import manifest from "../../package.json" with { type: "json" };

export const { name, version, description, license } = manifest;
export const repository = "https://github.com/claudikins/claudikins";
export const author = { name: "The claudikins authors", url: repository };
export const keywords = ["mcp", "tools", "code-mode", "sandbox"];

/** The name in the official MCP registry. The npm package repeats it as `mcpName`, which proves that both have the same owner. */
export const registryName = "io.github.claudikins/claudikins";

/**
 * The words that run claudikins through npx. npx uses the `.npmrc` and the packages of the project that an agent works on, which may
 * come from anybody. With `--prefix /` it uses those of the root folder instead. The working directory stays the same.
 */
export function npxWords(wanted = name): [string, ...string[]] {
  return ["npx", "--prefix", "/", "-y", wanted];
}
