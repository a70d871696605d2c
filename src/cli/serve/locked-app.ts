/** What `serve` answers with until its config is trusted and correct. */
import type { App } from "../../app/app.ts";
import type { LockedOptions } from "../../app/locked-app.ts";
import { toClaudikinsError } from "../../base/errors.ts";
import { openLog } from "../../base/log.ts";
import { NotTrusted } from "../../config/trust/not-trusted.ts";
import type { Io } from "../io.ts";
import { warningLabel } from "../terminal/palette.ts";

interface LockedChoices extends Pick<LockedOptions, "open" | "asks"> {
  mayShow: () => boolean;
  /** Opens the app of the user's own config, as if the project had none. */
  openOwn: () => Promise<App>;
}

/**
 * Returns an app that answers until the config is trusted, and for one agent also until it is correct: over HTTP, the config says who may
 * call. Throws every other error.
 */
export async function lockedApp(
  error: unknown,
  { mayShow, openOwn, ...options }: LockedChoices,
  { cwd, env, stderr }: Io,
): Promise<App> {
  const { code, message, hint } = toClaudikinsError(error);
  if (code !== "CONFIG_NOT_TRUSTED" && !(code === "CONFIG_INVALID" && options.asks)) throw error;
  await stderr.write(`${warningLabel} ${message}\n${hint === undefined ? "" : `hint: ${hint}\n`}`);
  const [{ LockedApp }, { Sandbox }] = await Promise.all([
    import("../../app/locked-app.ts"),
    import("../../sandbox/sandbox.ts"),
  ]);
  const log = await openLog(env["CLAUDIKINS_LOG"]);
  const isNew = error instanceof NotTrusted && error.request !== undefined && !error.request.before;
  // Without a config of their own, or with one that cannot be used, everything waits.
  const meanwhile = isNew && options.asks ? await openOwn().catch(() => undefined) : undefined;
  return new LockedApp(new Sandbox(), {
    ...options,
    meanwhile,
    why: code,
    showsConfig: code === "CONFIG_INVALID" && mayShow(),
    env,
    cwd,
    log,
  });
}
