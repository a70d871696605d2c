/** What doctor and setup look at: the surroundings of the call, and the config where it can be read. */

import { serverFolder } from "../config/discover.ts";
import { credentialsFile } from "../config/locations.ts";
import type { Scene } from "../doctor/finding.ts";
import { type ClaudikinsError, toClaudikinsError } from "../errors.ts";
import { openLog } from "../log.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";
import type { Io } from "./io.ts";
import { openToolbox } from "./session.ts";
import type { ConfigFlags } from "./trust-prompt.ts";

export interface OpenedScene extends AsyncDisposable {
  scene: Scene;
  /** Undefined if the config cannot be read. */
  toolbox: Toolbox | undefined;
}

export interface SceneOptions {
  withServers: boolean;
  /** Whether the person may be asked to trust the config. */
  asks: boolean;
}

export async function openScene(io: Io, flags: ConfigFlags, { withServers, asks }: SceneOptions): Promise<OpenedScene> {
  const { config: configFlag } = flags;
  let toolbox: Toolbox | undefined;
  let configError: ClaudikinsError | undefined;
  try {
    toolbox = await openToolbox(io, flags, { asks });
  } catch (thrown) {
    configError = toClaudikinsError(thrown);
  }
  const scene: Scene = {
    env: io.env,
    cwd: io.cwd,
    platform: process.platform,
    configFlag,
    toolbox,
    configError,
    credentialsFile: credentialsFile(io.env),
    serverFolder: serverFolder(toolbox?.config.origin ?? { kind: "demo" }, io.cwd, io.env),
    withServers,
    signal: io.interrupted,
    log: await openLog(io.env["CLAUDIKINS_LOG"]),
  };
  return { scene, toolbox, [Symbol.asyncDispose]: async () => toolbox?.[Symbol.asyncDispose]() };
}
