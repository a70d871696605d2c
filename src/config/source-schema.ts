/** The schemas of the keys that only sources have. */
import { z } from "zod";
import { isWebAddress, placeProblem, type SourceKind } from "./sources.ts";

/** Patterns in one list, so that no document is compared with an endless one. */
const maxPatterns = 1_000;

/** Overlays of one document. */
const maxOverlays = 20;

const place = z
  .string()
  .min(1)
  .superRefine((text, context) => {
    const message = placeProblem(text);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });

const address = z.string().superRefine((text, context) => {
  if (text.includes("${") || isWebAddress(text)) return;
  context.addIssue({ code: "custom", message: "expected an address that starts with http:// or https://" });
});

const patterns = z.array(z.string().min(1)).max(maxPatterns).optional();

const text = z.string().min(1);

/** By kind. */
export const sourceFields = {
  openapi: {
    openapi: place,
    baseUrl: address.optional(),
    include: patterns,
    exclude: patterns,
    overlays: z.array(place).max(maxOverlays).optional(),
    auth: z
      .union([text, z.record(z.string(), text)], "expected a text, or an object with a text for each security scheme")
      .optional(),
  },
  graphql: {
    graphql: address,
    schema: place.optional(),
    include: patterns,
    exclude: patterns,
    auth: text.optional(),
  },
} satisfies Record<SourceKind, Record<string, z.ZodType>>;
