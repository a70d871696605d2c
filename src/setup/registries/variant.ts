/** A variant of a published server, with places for the user's values. Help texts load this file, so it imports only types. */
import type { Runtime } from "./runtime-options.ts";
import type { Template } from "./templates.ts";

/** The kinds of variants, as `--via` names them. */
export const kinds = ["npm", "pypi", "nuget", "oci", "http", "sse"] as const;
export type VariantKind = (typeof kinds)[number];

/** A word of the command line after the package, with the option in front of it. */
export interface VariantArgument {
  flag?: string | undefined;
  value?: Template | undefined;
  /** The option and its value are one word: `--verbose=true`. */
  isJoined?: boolean;
  /** The argument is left out if one of its values is missing. */
  isOptional: boolean;
}

export interface ProgramVariant {
  kind: "npm" | "pypi" | "nuget" | "oci";
  /** The program that starts the package. */
  runtime: Runtime;
  /** The package with its version. */
  spec: string;
  options: readonly VariantArgument[];
  args: readonly VariantArgument[];
  env: readonly { name: string; value: Template; isOptional: boolean }[];
  /** Warnings for the user. */
  warnings: readonly string[];
}

export interface AddressVariant {
  kind: "http" | "sse";
  url: Template;
  headers: readonly { name: string; value: Template; isOptional: boolean }[];
  warnings: readonly string[];
}

export type Variant = ProgramVariant | AddressVariant;
