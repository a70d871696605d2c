/** The folders beside which people have folders of their own. */
import type { Io } from "../io.ts";

/** The registries and workspaces of the config and its doors. Throws what `loadConfig` throws. */
export async function sharedFolders(flag: string | undefined, { cwd, env }: Io): Promise<string[]> {
  const { loadConfig } = await import("../../config/load.ts");
  const whole = await loadConfig({ flag, cwd, env });
  const behind = await Promise.all(whole.doors.map((door) => loadConfig({ flag, cwd, env, door })));
  return [whole, ...behind].flatMap(({ folders: { registry, workspace } }) => [registry, workspace]);
}
