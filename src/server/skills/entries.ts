/** The entries of skills as agents get them, with the digest and the size of each file. */
import type { Resource } from "@modelcontextprotocol/server";
import { type Skill, skillEntry } from "@modelcontextprotocol/server/ext/skills";
import { pathOf } from "./served-skills.ts";

export function entryOf(address: string, text: string): Promise<Skill> {
  return skillEntry(pathOf(address), { "SKILL.md": text });
}

/** The skill's file as an agent lists it among resources. */
export async function resourceOf(address: string, text: string): Promise<Resource> {
  const { frontmatter } = await entryOf(address, text);
  const { name, description } = frontmatter;
  return { uri: address, name, description, mimeType: "text/markdown", size: Buffer.byteLength(text) };
}
