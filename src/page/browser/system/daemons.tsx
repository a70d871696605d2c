/** The daemons of the user: which run, for which configs, and how they end. */
import { counted } from "../../../base/counted.ts";
import { aboutMegabytes } from "../../../base/units.ts";
import type { PageDaemon, PageDaemons, PageSilentDaemon, PageStopped } from "../../system-contract.ts";
import { Age } from "../age.tsx";
import { AskedButton } from "../asked-button.tsx";
import { post } from "../client.ts";
import { useLooked } from "../looked.ts";
import { Problem, useNotices } from "../notice.tsx";
import { Panel } from "../panel.tsx";
import { Text } from "../text.tsx";

export function Daemons() {
  const notices = useNotices();
  const { found, problem, look } = useLooked<PageDaemons>("daemons");
  const stop = async (pid: number, now: boolean, isOwn = false) => {
    const { isOver, calls } = await post<PageStopped>("daemons/stop", { pid, now });
    if (isOver) notices.say(`Stopped daemon ${pid}`);
    else if (calls > 0 && !now) notices.say(`Daemon ${pid} ends when its calls are done: ${calls}`);
    else notices.say(`Daemon ${pid} is ending${isOwn ? ", and this page with it" : ""}`);
    look();
  };
  return (
    <Panel id="daemons" title="Daemons">
      {problem && <Problem reason={problem} />}
      {!found && !problem && <p class="about">Looking for daemons …</p>}
      {found && found.running.length + found.silent.length === 0 && (
        <p class="empty">No daemon is running. A daemon starts when a tool is called.</p>
      )}
      <ul class="lines">
        {found?.running.map((daemon) => (
          <Running key={daemon.pid} daemon={daemon} onStop={stop} />
        ))}
        {found?.silent.map((daemon) => (
          <Silent key={daemon.log} daemon={daemon} onStop={stop} />
        ))}
      </ul>
      <p class="about">
        Each config whose tools were called recently has a daemon, which keeps servers running. In a terminal:{" "}
        <code class="command">claudikins daemon status</code>
      </p>
    </Panel>
  );
}

interface RunningProps {
  daemon: PageDaemon;
  onStop(pid: number, now: boolean, isOwn: boolean): Promise<void>;
}

function Running({ daemon, onStop }: RunningProps) {
  const { pid, version, config, startedAt, memoryBytes, calls, servers, hasPage, isOwn } = daemon;
  const facts = [
    `process ${pid}`,
    `claudikins ${version}`,
    ...(memoryBytes === undefined ? [] : [aboutMegabytes(memoryBytes)]),
    `${counted(calls.done, "call")} done`,
    ...(calls.running > 0 ? [`${calls.running} running`] : []),
    ...(hasPage && !isOwn ? ["a page is open"] : []),
  ];
  const question = isOwn ? "Really stop it, and this page?" : "Really stop it?";
  return (
    <li>
      <div>
        <Text in="strong">{config}</Text> {isOwn && <span class="badge">this page</span>}
        <p class="about">
          {facts.join(" · ")} · started <Age at={startedAt} />
        </p>
        {servers.length > 0 && (
          <p class="about">
            Servers:{" "}
            <Text>
              {servers
                .map(({ name, pid: process }) => (process === null ? name : `${name} (process ${process})`))
                .join(", ")}
            </Text>
          </p>
        )}
      </div>
      <span class="line-actions">
        <AskedButton question={question} action={() => onStop(pid, false, isOwn)}>
          Stop
        </AskedButton>
        {calls.running > 0 && (
          <AskedButton question="Really cancel its calls?" action={() => onStop(pid, true, isOwn)}>
            Stop now
          </AskedButton>
        )}
      </span>
    </li>
  );
}

interface SilentProps {
  daemon: PageSilentDaemon;
  onStop(pid: number, now: boolean): Promise<void>;
}

function Silent({ daemon: { pid, config, log }, onStop }: SilentProps) {
  return (
    <li>
      <div>
        <Text in="strong">{config ?? "A daemon"}</Text>
        <p class="about not-set">It runs, but does not answer: it was paused, or hangs.</p>
        <p class="about">
          {pid !== undefined && `process ${pid} · `}log: <Text>{log}</Text>
        </p>
      </div>
      {pid !== undefined && (
        <AskedButton question="Really end it by force?" action={() => onStop(pid, true)}>
          End by force
        </AskedButton>
      )}
    </li>
  );
}
