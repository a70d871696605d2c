/** What doctor and setup look at: the surroundings of the call, and the config where it can be read. */

import { serverFolder } from "../config/discover.ts";
import { credentialsFile } from "../config/locations.ts";
import { type ClaudikinsError, toClaudikinsError } from "../errors.ts";
import type { Scene } from "../flows/doctor/finding.ts";
import type { Toolbox } from "../flows/toolbox.ts";
import { openLog } from "../log.ts";
import type { Io } from "./io.ts";
import { openToolbox } from "./session.ts";

export interface OpenedScene extends AsyncDisposable {
  scene: Scene;
}

export async function openScene(io: Io, configFlag: string | undefined, withServers: boolean): Promise<OpenedScene> {
  let toolbox: Toolbox | undefined;
  let configError: ClaudikinsError | undefined;
  try {
    toolbox = await openToolbox(io, configFlag);
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
    serverFolder: serverFolder(toolbox?.config.origin ?? { kind: "demo" }, io.cwd),
    withServers,
    signal: io.interrupted,
    log: await openLog(io.env["CLAUDIKINS_LOG"]),
  };
  return { scene, [Symbol.asyncDispose]: async () => toolbox?.[Symbol.asyncDispose]() };
}
