/** Makes the entry of a web API from the flags of `claudikins add`. */
import { isAbsolute, relative, resolve, sep } from "node:path";
import { ClaudikinsError } from "../base/errors.ts";
import { isWebAddress, placeProblem, type SourceKind } from "../config/sources.ts";
import type { NewServer } from "../setup/settings/add-server.ts";

/** The flags for web APIs, as they were given. */
export interface SourceFlags {
  openapi?: string | undefined;
  "base-url"?: string | undefined;
  auth: string[];
  include: string[];
  exclude: string[];
}

export interface Folders {
  /** The working directory of the command. */
  cwd: string;
  /** The folder of the config file. Paths in it are relative to this folder. */
  config: string;
}

/** The flag that says what describes the API. Undefined if the command adds something else. Throws USAGE for flags without it. */
export function sourceKindOf(flags: SourceFlags): SourceKind | undefined {
  if (flags.openapi !== undefined) return "openapi";
  const flag =
    flags["base-url"] !== undefined
      ? "base-url"
      : (["auth", "include", "exclude"] as const).find((each) => flags[each].length > 0);
  if (flag === undefined) return undefined;
  throw new ClaudikinsError("USAGE", `--${flag} only applies to a web API`, {
    hint: "Example: claudikins add petstore --openapi https://api.example.com/openapi.json",
  });
}

/** Throws USAGE. */
export function sourceEntry(
  flags: SourceFlags,
  headers: ReadonlyMap<string, string | undefined>,
  folders: Folders,
): NewServer["entry"] {
  const { openapi = "", "base-url": baseUrl, auth, include, exclude } = flags;
  const problem = placeProblem(openapi);
  if (problem !== undefined || openapi === "") {
    throw new ClaudikinsError("USAGE", `--openapi: ${problem ?? "expected an address or a path"}`);
  }
  if (baseUrl !== undefined && !isWebAddress(baseUrl) && !baseUrl.includes("${")) {
    throw new ClaudikinsError("USAGE", "--base-url: expected an address that starts with http:// or https://");
  }
  return {
    openapi: isWebAddress(openapi) || openapi.startsWith("${") ? openapi : placed(openapi, folders),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(headers.size > 0 ? { headers: Object.fromEntries(headers) } : {}),
    ...(auth.length > 0 ? { auth: authOf(auth) } : {}),
    ...(include.length > 0 ? { include } : {}),
    ...(exclude.length > 0 ? { exclude } : {}),
  };
}

/** A path below the folder of the config stays short, so that the folder can be moved. */
function placed(path: string, { cwd, config }: Folders): string {
  const whole = resolve(cwd, path);
  const short = relative(config, whole);
  return short.startsWith("..") || isAbsolute(short) ? whole : `./${short.split(sep).join("/")}`;
}

/** `NAME=text` for a security scheme, or one text alone. */
function authOf(given: readonly string[]): string | Record<string, string> {
  const pairs = given.map((each) => /^([\w.-]+)=(?!=*$)(.+)$/s.exec(each));
  if (pairs.every((each) => each !== null)) {
    return Object.fromEntries(pairs.map(([, name = "", value = ""]) => [name, value]));
  }
  const [text = "", ...others] = given;
  if (others.length === 0) return text;
  throw new ClaudikinsError("USAGE", "--auth: with several credentials, each names its security scheme", {
    hint: "Example: --auth 'apiKey=${API_KEY}' --auth 'appKey=${APP_KEY}'",
  });
}
