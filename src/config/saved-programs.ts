/** The server whose tools are the saved programs of a config. It is in the config if a program is saved. */
import { join } from "node:path";
import { sha256 } from "../base/sha256.ts";
import { defaultServerTimes } from "./defaults.ts";
import type { ServerPolicy } from "./policy.ts";
import { ownersFolder, type SavedProgramsPlace } from "./saved-programs-place.ts";
import { selfCommand } from "./self.ts";

/** Time limit of a call of a saved program, which ends by a limit of its own: the longest that a timer can wait. */
const maxProgramCallMs = 2_147_483_647;

export const savedProgramsName = "programs";

/** The servers of the config, without those that are a part of claudikins: nothing starts or reaches them. */
export function outerServers<Server extends { isSavedPrograms?: true; isModel?: true }>({
  servers,
}: {
  servers: ReadonlyMap<string, Server>;
}): Server[] {
  return [...servers.values()].filter(({ isSavedPrograms, isModel }) => !isSavedPrograms && !isModel);
}

/** Undefined if no program is saved, or none is known yet. The name of the server may be taken by one of the config. */
export function savedProgramsServer({ documents, folder, mark }: SavedProgramsPlace, policy: ServerPolicy | undefined) {
  if (!documents.areKnown || documents.read(mark) === undefined) return undefined;
  const files = documents.namesIn(folder).filter((name) => name.endsWith(".json"));
  // Programs of tokens and people are called through the server, and are not in its list.
  const areOthers = () => documents.namesIn(ownersFolder({ folder })).some((name) => name.endsWith(".json"));
  if (files.length === 0 && !areOthers()) return undefined;
  const [command, ...args] = selfCommand("programs");
  return {
    name: savedProgramsName,
    isSavedPrograms: true as const,
    command,
    // A changed program makes another entry, so that the server is listed again.
    args: [
      ...args,
      sha256(files.map((file) => `${file} ${documents.stampOf(join(folder, file))}`).join("\n")).slice(0, 16),
    ],
    env: {},
    cwd: undefined,
    disabled: false,
    category: "programs",
    description: "programs that were saved here",
    ...defaultServerTimes,
    // Each program has a time limit of its own.
    callTimeoutMs: maxProgramCallMs,
    needs: [],
    policy,
  };
}
