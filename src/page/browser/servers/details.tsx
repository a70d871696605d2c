/** One server: its state with the cause and the repair, what it is, and its tools. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { counted } from "../../../base/counted.ts";
import { durationText } from "../../../base/duration.ts";
import { visible } from "../../../policy/hidden-characters.ts";
import type { PageChecked, PageLogLine, PageServerEntry, PageUndo } from "../../servers-contract.ts";
import { AskedButton } from "../asked-button.tsx";
import { get, post } from "../client.ts";
import { Problem, type Reason, useAction, useConfigChanged, useNotices } from "../notice.tsx";
import { Panel } from "../panel.tsx";
import { ScrolledText, shortened, Text, visibleLines } from "../text.tsx";
import { EditServer } from "./edit-server.tsx";
import { HeldTools } from "./held.tsx";
import { SignInPanel } from "./sign-in.tsx";
import { ToolList } from "./tools.tsx";

/** Characters of a command or an address that are shown. */
const shownWhereChars = 60;

export function Details({ server }: { server: PageServerEntry }) {
  const [isEditing, setEditing] = useState(false);
  const { name, transport, where, description, protocol, serverVersion, signIn, denied, toolsMark } = server;
  const isOff = server.state === "disabled";
  if (isEditing) return <EditServer server={name} onDone={() => setEditing(false)} />;
  return (
    <Panel id="server" title={<Text>{name}</Text>}>
      {description !== undefined && <Text in="p">{description}</Text>}
      <dl class="facts">
        <Fact
          name="State"
          value={server.state === "broken" ? "broken" : server.stateText}
          kind={server.state === "broken" ? "outcome bad" : ""}
        />
        <Fact
          name="Connection"
          value={[transport, where && shortened(where, shownWhereChars)].filter(Boolean).join(" · ")}
          title={where}
        />
        <Fact name="Version" value={[serverVersion, protocol && `MCP ${protocol}`].filter(Boolean).join(" · ")} />
        <Fact name="Confined by" value={server.sandbox ?? ""} />
        <Fact name="Denied tools" value={denied === undefined ? "" : String(denied)} />
      </dl>
      {signIn && !isOff && <SignInPanel server={server} signIn={signIn} />}
      <Repairs server={server} onEdit={() => setEditing(true)} />
      {server.held !== undefined && <HeldTools server={name} count={server.held} />}
      {!isOff && <ToolList server={name} state={server.state} mark={toolsMark} />}
    </Panel>
  );
}

interface RepairsProps {
  server: PageServerEntry;
  onEdit(): void;
}

function Repairs({ server: { name, state, isOwn, signIn, problem, needs }, onEdit }: RepairsProps) {
  const notices = useNotices();
  const configChanged = useConfigChanged();
  const { isRunning, run } = useAction();
  const [checked, setChecked] = useState<PageChecked>();
  const [isLogShown, setLogShown] = useState(false);
  const isOff = state === "disabled";
  const check = () =>
    run(async () => {
      setChecked(undefined);
      setChecked(await post<PageChecked>("servers/check", { server: name }));
      if (isLogShown) setLogShown(false);
    });
  const isRunningNow = state === "ready" || state === "starting";
  const restart = () =>
    run(async () => {
      const { tools } = await post<{ tools: number }>("servers/restart", { server: name });
      notices.say(`${isRunningNow ? "Restarted" : "Started"} ${name}: ${counted(tools, "tool")}`);
    });
  const turn = (isOn: boolean) =>
    run(async () => {
      const { undo } = await post<PageUndo>("servers/switch", { server: name, isOn });
      const what = `${isOn ? "Enabled" : "Disabled"} ${name}`;
      configChanged({ said: isOn ? what : `${what}: agents no longer see it`, undo, what });
    });
  const remove = async () => {
    const { undo } = await post<PageUndo>("servers/remove", { server: name });
    const kept = signIn?.state === "signed in" ? ". Its sign-in was kept: claudikins auth logout removes it" : "";
    const what = `Removed ${name}`;
    if (undo === undefined) notices.changed(`${what}${kept}`, "What was unpacked for it is deleted too.");
    else configChanged({ said: `${what}${kept}`, undo, what });
  };
  return (
    <>
      {problem !== undefined && !checked && (
        <p class={state === "broken" ? "warning bad" : "warning"}>
          <Text>{problem}</Text>
        </p>
      )}
      <div class="actions">
        {!isOff && (
          <button
            type="button"
            class={state === "broken" ? "primary" : ""}
            disabled={isRunning}
            title="Starts it once, and lists its tools"
            onClick={() => void check()}
          >
            {isRunning ? "Working …" : state === "broken" ? "Try again" : "Check"}
          </button>
        )}
        {isOwn && !isOff && (
          <button
            type="button"
            disabled={isRunning}
            title="In the daemon, where it stays running"
            onClick={() => void restart()}
          >
            {isRunningNow ? "Restart" : "Start"}
          </button>
        )}
        {isOwn && (
          <>
            <button type="button" class={needs ? "primary" : ""} disabled={isRunning} onClick={onEdit}>
              {needs ? `Set ${needs.join(", ")}` : state === "broken" ? "Change its entry" : "Change"}
            </button>
            <button type="button" aria-expanded={isLogShown} onClick={() => setLogShown(!isLogShown)}>
              Log
            </button>
            <button type="button" class={isOff ? "primary" : ""} disabled={isRunning} onClick={() => void turn(isOff)}>
              {isOff ? "Enable" : "Disable"}
            </button>
            <span class="apart" />
            <AskedButton isDanger question="Really remove it?" action={remove}>
              Remove
            </AskedButton>
          </>
        )}
      </div>
      {checked && <Checked checked={checked} />}
      {isLogShown && <ServerLog server={name} />}
    </>
  );
}

function Checked({ checked: { tools = 0, tookMs, problem, misfits } }: { checked: PageChecked }) {
  const [first = "", ...output] = problem?.message.split("\n") ?? [];
  return (
    <div class="checked" role="status">
      {problem ? (
        <>
          <Text in="p" class="failure-text">
            {first}
          </Text>
          {problem.hint !== undefined && <Text in="p">{problem.hint}</Text>}
          {output.length > 0 && <ScrolledText class="arguments">{visibleLines(output.join("\n"))}</ScrolledText>}
        </>
      ) : (
        <p class="outcome good">
          It works: {counted(tools, "tool")} in {durationText(tookMs)}
        </p>
      )}
      {misfits.map((misfit) => (
        <Text key={misfit} in="p" class="about">
          {misfit}
        </Text>
      ))}
    </div>
  );
}

interface FactProps {
  name: string;
  /** Nothing is shown if it is empty. */
  value: string;
  /** The whole value, if it is shortened. */
  title?: string | undefined;
  kind?: string;
}

function Fact({ name, value, title, kind = "" }: FactProps) {
  if (value === "") return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd class={kind} title={title === undefined ? undefined : visible(title)}>
        <Text>{value}</Text>
      </dd>
    </div>
  );
}

/** How often the log is read while it is shown. */
const logLookMs = 1_500;

function ServerLog({ server }: { server: string }) {
  const [lines, setLines] = useState<PageLogLine[]>();
  const [problem, setProblem] = useState<Reason>();
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    const load = () => {
      if (document.visibilityState !== "visible") return;
      get<PageLogLine[]>(`servers/log?${new URLSearchParams({ server })}`).then(setLines, setProblem);
    };
    load();
    const timer = setInterval(load, logLookMs);
    return () => clearInterval(timer);
  }, [server]);
  const last = lines?.at(-1);
  useLayoutEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [last?.at, last?.text, lines?.length]);
  if (problem) return <Problem reason={problem} />;
  if (!lines) return null;
  if (lines.length === 0) return <p class="empty">The log is empty. It is written when the server starts.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the arrow keys.
    <pre class="arguments log" role="log" ref={box} tabIndex={0} aria-label={`Log of ${visible(server)}`}>
      {lines.map(({ at, kind, text }, place) => (
        <span key={`${at} ${place}`} class={`log-line ${kind}`}>
          <time dateTime={new Date(at).toISOString()}>{new Date(at).toLocaleTimeString()}</time> {kind.padEnd(7)}{" "}
          {visible(text)}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
