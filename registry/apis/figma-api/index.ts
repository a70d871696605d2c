/** Figma's API, from the document that Figma publishes. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "figma-api",
  category: "apis",
  title: "Figma REST API",
  description: "Reads Figma files, images, components, styles, variables, versions and comments",
  server: {
    openapi: "https://raw.githubusercontent.com/figma/rest-api-spec/HEAD/openapi/openapi.yaml",
    auth: { PersonalAccessToken: "${FIGMA_TOKEN}" },
  },
  variables: [
    {
      name: "FIGMA_TOKEN",
      required: true,
      what: "a personal access token with the scopes that you need",
      from: "https://www.figma.com/developers/api#access-tokens",
    },
  ],
  session: "shared",
  signIn: "token",
  labels: { "*": ["private"], get_comments: ["untrusted", "private"], post_comment: ["public"] },
  goodFor: ["export images of a file", "components of a team", "comments on a design", "versions of a file"],
  notes: ["Whole files are large: name nodes with `ids`, or a `depth`."],
  aliases: ["figma rest"],
  homepage: "https://developers.figma.com/docs/rest-api/",
  checked: { date: "2026-11-29", how: "documented" },
} satisfies CatalogServer;
