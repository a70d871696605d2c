/** Everything that belongs to the user and no config alone: secrets, daemons, the version, and the audit log. */

import { useState } from "preact/hooks";
import type { PageState } from "../../contract.ts";
import type { PageVersion } from "../../system-contract.ts";
import { Age } from "../age.tsx";
import { post } from "../client.ts";
import { Problem, type Reason, useAction, useLoaded } from "../notice.tsx";
import { Panel } from "../panel.tsx";
import { Text } from "../text.tsx";
import { AuditLog } from "./audit.tsx";
import { Daemons } from "./daemons.tsx";
import { Secrets } from "./secrets.tsx";

interface SystemProps {
  state: PageState;
}

export function System({ state }: SystemProps) {
  return (
    <div class="with-list">
      <div class="stack">
        <Secrets servers={state.servers.map(({ name }) => name)} />
        <Daemons />
        <Version />
      </div>
      <AuditLog />
    </div>
  );
}

function Version() {
  const [found, setFound] = useLoaded<PageVersion>("version", undefined);
  const [problem, setProblem] = useState<Reason>();
  const { isRunning, run } = useAction();
  const check = () =>
    run(async () => {
      setProblem(undefined);
      await post<PageVersion>("version/check", {}).then(setFound, setProblem);
    });
  return (
    <Panel id="version" title="Version">
      {found && <Known found={found} />}
      {problem && <Problem reason={problem} />}
      <div class="actions">
        <button type="button" disabled={isRunning} onClick={() => void check()}>
          {isRunning ? "Asking …" : "Check for a newer version"}
        </button>
      </div>
      <p class="about">
        The page asks the server of releases only when you press the button. In a terminal:{" "}
        <code class="command">claudikins upgrade --check</code>
      </p>
    </Panel>
  );
}

function Known({ found: { version, installed, path, newest, command } }: { found: PageVersion }) {
  return (
    <>
      <p class="system-version">claudikins {version}</p>
      {newest === undefined && <p class="about">Nobody has looked for a newer version yet.</p>}
      {newest?.isNewer === false && (
        <p class="outcome good">
          It is the newest version. <span class="about">Checked </span>
          <span class="about">
            <Age at={newest.checkedAt} />
          </span>
        </p>
      )}
      {newest?.isNewer && (
        <div class="warning">
          claudikins <Text>{newest.version}</Text> is available. To install it:
          <pre>{command ?? ""}</pre>
          <span class="about">
            Checked <Age at={newest.checkedAt} />
          </span>
        </div>
      )}
      <Text in="p" class="about">
        {installed}
      </Text>
      <p class="about">
        <Text in="code">{path}</Text>
      </p>
    </>
  );
}
