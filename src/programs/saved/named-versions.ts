/** The versions of saved programs that code names: `programs.revenue_by_region_v3({ … })`. */
import type { KnownFunction, Namespace } from "../../sandbox/contract.ts";
import type { RegistryServer, RegistryTool } from "../../tools/model.ts";
import { toIdentifier } from "../../tools/names.ts";
import { signature } from "../../tools/signature.ts";
import type { Parts } from "../parts.ts";
import { programsServer, type SavedProgram, versionIn, versionName } from "./model.ts";
import { isTaken } from "./namespace.ts";
import type { RequestingProgram } from "./requesting-program.ts";
import { registryTool, serverWith } from "./tools.ts";
import { callerOwner, VisiblePrograms } from "./visible-programs.ts";

/** Versions that one program names. Others are not found. */
const maxNamedVersions = 100;

/** It begins at the beginning of a word only, so that a long word takes no longer. */
const versionWord = /(?<![\w$-])[\w$-]{1,80}_v[1-9]\d{0,8}(?![\w$])/g;

interface NamedVersion {
  /** The name of the version, as permissions have it. */
  name: string;
  number: number;
  server: RegistryServer;
  /** The tool of the program, with the input of the version. */
  tool: RegistryTool;
}

export class NamedVersions {
  /** By their names, and their names in code. */
  readonly #byName = new Map<string, NamedVersion>();

  constructor(source: string, requesting: Pick<RequestingProgram, "program" | "starter">, parts: Parts) {
    if (isTaken(parts)) return;
    const programs = new VisiblePrograms(parts.config.savedPrograms, callerOwner(requesting, parts));
    const words = new Set(source.match(versionWord)?.slice(0, maxNamedVersions));
    const all = words.size === 0 ? [] : programs.all();
    for (const word of words) {
      const wanted = versionIn(word);
      const newest = all.find(({ name }) => name === wanted?.name || toIdentifier(name) === wanted?.name);
      const found = newest && wanted && programs.find(versionName(newest.name, wanted.number));
      if (found) this.#add(found, parts);
    }
  }

  #add(program: SavedProgram, parts: Parts): void {
    const { name, number } = program;
    const full = versionName(name, number);
    const jsName = versionName(toIdentifier(name), number);
    const tool = registryTool(program, jsName, parts);
    const version = { name: full, number, tool, server: serverWith([tool], parts) };
    for (const each of [full, jsName]) this.#byName.set(each, version);
  }

  find(name: string): NamedVersion | undefined {
    return this.#byName.get(name);
  }

  /** The namespaces with a function for each version. */
  among(namespaces: readonly Namespace[]): Namespace[] {
    const functions = [...new Set(this.#byName.values())].map(({ name, tool, server }): KnownFunction => {
      const { jsName, inputSchema } = tool;
      return { name, jsName, inputSchema, signature: signature(server, tool) };
    });
    return namespaces.map((each) => {
      if (each.name !== programsServer || each.functions === "any") return each;
      return { ...each, functions: [...each.functions, ...functions] };
    });
  }
}
