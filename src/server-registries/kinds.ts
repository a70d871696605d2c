/** The ways in which a published server can be used, as `--via` names them. It is a file of its own so that help texts load nothing else. */

export const kinds = ["npm", "pypi", "nuget", "oci", "http", "sse"] as const;
export type Kind = (typeof kinds)[number];
