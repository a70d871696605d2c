/** Everything that belongs to the user and no config alone: secrets, daemons, the version, and the audit log. */
import type { PageState } from "../../contract.ts";
import { AuditLog } from "./audit.tsx";
import { Daemons } from "./daemons.tsx";
import { Secrets } from "./secrets.tsx";
import { Version } from "./version.tsx";

interface SystemProps {
  state: PageState;
  onServer(name: string): void;
  onExecution(id: string): void;
}

export function System({ state, onServer, onExecution }: SystemProps) {
  return (
    <div class="with-list">
      <div class="stack">
        <Secrets servers={state.servers.map(({ name }) => name)} onServer={onServer} />
        <Daemons />
        <Version />
      </div>
      <AuditLog onExecution={onExecution} />
    </div>
  );
}
