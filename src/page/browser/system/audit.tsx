/** The newest entries of the audit log, and the check of its chain. */

import { useState } from "preact/hooks";
import { counted } from "../../../base/counted.ts";
import type { PageAudit, PageAuditCheck, PageAuditEntry } from "../../system-contract.ts";
import { Age } from "../age.tsx";
import { get } from "../client.ts";
import { Field, SubmitForm } from "../field.tsx";
import { Choice, named } from "../filter-form.tsx";
import { useLeads } from "../leads.ts";
import { useLooked } from "../looked.ts";
import { Problem, useAction } from "../notice.tsx";
import { useRoving } from "../roving.ts";
import { Fact, Text } from "../text.tsx";

/** Entries that are shown at first. */
const firstEntries = 50;

/** Entries that the page shows at most. */
const mostEntries = 1_000;

export function AuditLog() {
  const [decision, setDecision] = useState<string>();
  const [most, setMost] = useState(firstEntries);
  const query = new URLSearchParams({ most: String(most), ...(decision === undefined ? {} : { decision }) });
  const { found, problem } = useLooked<PageAudit>(`audit?${query}`);
  const entries = found?.entries ?? [];
  const roving = useRoving(entries.map(({ entry }) => String(entry)));
  return (
    <section class="panel" aria-labelledby="audit">
      <div class="figures-head">
        <h2 id="audit">Audit log</h2>
        <Choice
          name="Decision"
          value={decision}
          any="All decisions"
          choices={named(found?.decisions ?? [])}
          onChange={(chosen) => {
            setDecision(chosen);
            setMost(firstEntries);
          }}
        />
      </div>
      <p class="about">
        Decisions about calls, and changes of the policy, of trust, tokens, programs and people, of all your projects.
        In a terminal: <code class="command">claudikins audit</code>
      </p>
      <Check />
      {problem && <Problem reason={problem} />}
      {!found && !problem && <p class="about">Reading the log …</p>}
      {found && entries.length === 0 && (
        <p class="empty">{decision === undefined ? "Nothing has been decided yet." : "The log has no such entries."}</p>
      )}
      <ul class="rows audit-rows" {...roving.list}>
        {entries.map((entry) => (
          <Entry key={entry.entry} entry={entry} item={roving.item(String(entry.entry))} />
        ))}
      </ul>
      {found?.hasMore && most < mostEntries && (
        <button type="button" class="add" onClick={() => setMost(Math.min(most * 4, mostEntries))}>
          Show more
        </button>
      )}
      {found?.hasMore && most >= mostEntries && (
        <p class="about">
          There are more. In a terminal: <code class="command">claudikins audit export</code>
        </p>
      )}
    </section>
  );
}

interface EntryProps {
  entry: PageAuditEntry;
  item: ReturnType<ReturnType<typeof useRoving>["item"]>;
}

const kinds: Record<string, string> = {
  approved: "good",
  denied: "bad",
  broken: "bad",
  expired: "waiting",
  withdrawn: "waiting",
};

function Entry({ entry, item }: EntryProps) {
  const { toExecution } = useLeads();
  const [isOpen, setOpen] = useState(false);
  const { decision, scope, about, by, place, at, execution, facts } = entry;
  return (
    <li>
      <button type="button" class="row" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} {...item}>
        <span class={`dot ${kinds[decision] ?? "idle"}`} aria-hidden="true" />
        <span class="row-text">
          <span>
            <strong>{decision}</strong> {scope} <Text>{about}</Text>
          </span>
          <span class="about">
            entry {entry.entry} · by <Text>{by}</Text>
            {place !== undefined && ` · ${place}`}
          </span>
        </span>
        <span class="times about">
          <Age at={at} />
        </span>
      </button>
      {isOpen && (
        <div class="audit-facts">
          <dl class="facts">
            {facts.map(({ name, value }) => (
              <Fact key={name} name={name}>
                <Text>{value}</Text>
              </Fact>
            ))}
          </dl>
          {execution !== undefined && (
            <button type="button" onClick={() => toExecution(execution)}>
              Show the execution
            </button>
          )}
        </div>
      )}
    </li>
  );
}

function Check() {
  const { isRunning, run } = useAction();
  const [checked, setChecked] = useState<PageAuditCheck>();
  const [hash, setHash] = useState("");
  const verify = () =>
    run(async () => {
      setChecked(undefined);
      const query = new URLSearchParams(hash.trim() === "" ? {} : { contains: hash.trim().toLowerCase() });
      setChecked(await get<PageAuditCheck>(`audit/verify?${query}`));
    });
  return (
    <SubmitForm class="audit-check" onSubmit={verify}>
      <div class="audit-verify">
        <button type="submit" disabled={isRunning}>
          {isRunning ? "Verifying …" : "Verify the chain"}
        </button>
        <details>
          <summary>Compare with a hash that you noted</summary>
          <Field name="SHA-256 of an entry" value={hash} onInput={setHash} />
        </details>
      </div>
      <div role="status">{checked && <Verified checked={checked} />}</div>
    </SubmitForm>
  );
}

function Verified({ checked: { entries, sha256, problem, notes, contains } }: { checked: PageAuditCheck }) {
  const holds = problem === undefined && contains !== false;
  return (
    <div class={holds ? "checked" : "warning"}>
      <p class={`outcome ${holds ? "good" : "bad"}`}>
        {problem === undefined ? (
          `The log holds: ${counted(entries, "entry", "entries")}`
        ) : (
          <>
            The log holds up to entry {entries}: <Text>{problem}</Text>
          </>
        )}
      </p>
      {contains !== undefined && (
        <p class={`outcome ${contains ? "good" : "bad"}`}>
          {contains
            ? "It contains your hash."
            : "It does not contain your hash: entries before it were changed or removed."}
        </p>
      )}
      {notes.map((note) => (
        <Text key={note} in="p" class="about">
          {note}
        </Text>
      ))}
      <p class="about">
        The last hash is <code>{sha256}</code>. Note it elsewhere, and a later check proves that nothing before it has
        changed.
      </p>
    </div>
  );
}
