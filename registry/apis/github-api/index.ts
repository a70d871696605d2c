/** GitHub's REST API, from the document that GitHub publishes. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "github-api",
  category: "apis",
  title: "GitHub REST API",
  description:
    "Calls every operation of GitHub's REST API, such as repositories, issues, actions, packages and settings",
  server: {
    openapi:
      "https://raw.githubusercontent.com/github/rest-api-description/HEAD/descriptions/api.github.com/api.github.com.json",
    headers: { Authorization: "Bearer ${GITHUB_TOKEN}" },
  },
  variables: [
    {
      name: "GITHUB_TOKEN",
      required: true,
      what: "a personal access token; grant it only the permissions it needs",
      from: "https://github.com/settings/personal-access-tokens/new",
    },
  ],
  session: "shared",
  signIn: "token",
  labels: {
    "*": ["untrusted", "private"],
    "issues_create*": ["public"],
    "issues_update*": ["public"],
    "pulls_create*": ["public"],
    "gists_create*": ["public"],
    "repos_create*": ["public"],
    "reactions_create*": ["public"],
    "meta_*": [],
    "emojis_*": [],
  },
  goodFor: [
    "a repository setting that the GitHub server does not have",
    "all pages of a list",
    "workflow runs and artifacts",
    "packages, deployments and rules",
  ],
  notes: [
    "The GitHub server of the catalog has fewer tools, with texts for agents. This one has about 1,200.",
    "`--include '/repos/*'` takes only the operations under that path.",
    "For GitHub Enterprise Server, add `baseUrl` to the entry.",
  ],
  aliases: ["github rest"],
  homepage: "https://docs.github.com/en/rest",
  checked: { date: "2026-11-29", how: "documented" },
} satisfies CatalogServer;
