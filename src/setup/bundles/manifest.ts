/** The manifest of a bundle (`.mcpb`, formerly `.dxt`): a server with its files in a ZIP archive. Strangers write it, so it is checked and bounded. */
import { z } from "zod";
import { ClaudikinsError } from "../../base/errors.ts";
import { parsedJson } from "../../base/json-object.ts";
import { oneLine } from "../../base/visible-text.ts";

/** Characters of a manifest. It may list the tools of the server, with their descriptions. */
const maxManifestChars = 2_000_000;

/** Characters of a word of the command line, or of the value of a variable. */
const maxValueChars = 4_000;

/** Arguments, variables or values of one server. */
const maxValues = 200;

const shown = (maxChars: number) =>
  z
    .string()
    .transform((text) => oneLine(text, maxChars) || undefined)
    .optional()
    .catch(undefined);

const value = z.string().max(maxValueChars);
const values = z.array(value).max(maxValues);

const record = (of: z.ZodType<string>) =>
  z
    .record(z.string().max(100), of)
    .refine((all) => Object.keys(all).length <= maxValues, `more than ${maxValues} values`);

const command = z.object({ command: value.min(1), args: values, env: record(value) });

const option = z.object({
  type: z.enum(["string", "number", "boolean", "directory", "file"]),
  title: shown(100),
  description: shown(300),
  required: z.boolean().default(false),
  sensitive: z.boolean().default(false),
  multiple: z.boolean().default(false),
  default: z.union([value, z.number(), z.boolean(), values]).optional(),
});

const manifestSchema = z.object({
  name: z
    .string()
    .min(1)
    .max(200)
    .regex(/[\p{L}\p{N}]/u),
  version: z.string().max(100).default("0"),
  display_name: shown(100),
  description: shown(300),
  author: z
    .object({ name: shown(100), url: shown(200) })
    .optional()
    .catch(undefined),
  homepage: shown(200),
  repository: z
    .object({ url: shown(200) })
    .optional()
    .catch(undefined),
  license: shown(100),
  server: z.object({
    type: z.string().max(50),
    entry_point: value.default(""),
    mcp_config: command.partial({ args: true, env: true }).extend({
      platform_overrides: z.record(z.string().max(50), command.partial()).optional(),
    }),
  }),
  user_config: z
    .record(z.string().regex(/^[\w.-]{1,100}$/), option)
    .refine((all) => Object.keys(all).length <= maxValues, `more than ${maxValues} values`)
    .default({}),
  tools: z
    .array(z.object({ name: z.string().max(200) }))
    .max(5_000)
    .default([])
    .catch([]),
  compatibility: z
    .object({ platforms: z.array(z.string().max(50)).max(20).optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

export type BundleManifest = z.infer<typeof manifestSchema>;
export type BundleOption = BundleManifest["user_config"][string];

/** Throws CONFIG_INVALID for a manifest that is no manifest, and USAGE for another platform. */
export function readManifest(text: string, file: string, platform: NodeJS.Platform): BundleManifest {
  const json = text.length > maxManifestChars ? undefined : parsedJson(text.replace(/^\uFEFF/, ""));
  const { data, error } = manifestSchema.safeParse(json);
  if (!data) {
    const [issue] = error.issues;
    const where = issue?.path.map(String).join(".") || "manifest.json";
    throw new ClaudikinsError(
      "CONFIG_INVALID",
      `${file} has no manifest that can be used: ${where}: ${issue?.message ?? "not JSON"}`,
      {
        hint: "Ask its author for a bundle that follows the MCPB manifest.",
      },
    );
  }
  const platforms = data.compatibility?.platforms;
  if (platforms && platforms.length > 0 && !platforms.includes(platform)) {
    throw new ClaudikinsError("USAGE", `${file} is for ${platforms.join(", ")}, and this machine is ${platform}`, {
      hint: "Ask its author for a bundle for this platform.",
    });
  }
  return data;
}
