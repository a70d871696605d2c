/** Starts a saved program when something happens. */
import { useState } from "preact/hooks";
import { counted } from "../../../base/counted.ts";
import type { PageProgram, PageRecorded, PageTriggered } from "../../programs-contract.ts";
import { post } from "../client.ts";
import { ChoiceField, Field, LinesField, SubmitForm } from "../field.tsx";
import { useAction, useNotices } from "../notice.tsx";
import { Text } from "../text.tsx";
import { givenTexts, InputFields, namedLines } from "./input-fields.tsx";

const kinds = {
  webhook: "a webhook comes",
  file: "a file is new or was changed",
  resource: "a resource of a server was updated",
  list: "a list of a server changes",
  after: "another program has ended",
} as const;
type Kind = keyof typeof kinds;

const senders = ["standard", "github", "stripe", "slack"] as const;
const lists = ["tools", "resources", "prompts"] as const;

interface NewTriggerProps {
  program: PageProgram;
  onMade(): Promise<void>;
}

export function NewTrigger({ program: { name, door, inputs }, onMade }: NewTriggerProps) {
  const notices = useNotices();
  const { isRunning, run } = useAction();
  const [kind, setKind] = useState<Kind>("webhook");
  const [form, setForm] = useState<Record<string, string>>({});
  const [texts, setTexts] = useState<Record<string, string>>({});
  const [made, setMade] = useState<PageTriggered>();
  const text = (key: string) => (form[key] ?? "").trim();
  const set = (key: string) => (value: string) => setForm({ ...form, [key]: value });
  const add = () =>
    run(async () => {
      setMade(undefined);
      const limit = text("limit");
      const body = {
        name,
        door,
        source: sourceOf(kind, text),
        input: givenTexts(inputs, texts),
        map: namedLines(form["map"] ?? ""),
        ...(text("filter") === "" ? {} : { filter: text("filter") }),
        ...(text("id") === "" ? {} : { id: text("id") }),
        ...(limit === "" ? {} : { perMinute: Number(limit) }),
      };
      const done = await post<PageTriggered>("programs/on", body);
      setMade(done);
      setForm({});
      const unwatched = "There can be no daemon here, so nothing looks for these events.";
      notices.changed(`${name} starts after events of ${done.id}`, done.isWatched ? undefined : unwatched);
      await onMade();
    });
  const choice = (key: string, title: string, choices: readonly string[]) => (
    <ChoiceField
      name={title}
      value={form[key] ?? choices[0] ?? ""}
      choices={Object.fromEntries(choices.map((each) => [each, each]))}
      onChoose={set(key)}
    />
  );
  const field = (key: string, title: string, more: { about?: string; help?: string; example?: string } = {}) => (
    <Field name={title} value={form[key] ?? ""} onInput={set(key)} {...more} />
  );
  return (
    <>
      {made?.path !== undefined && (
        <div class="warning" role="status">
          <p>
            The path of the webhook, below the address of <code>claudikins serve --http</code>:{" "}
            <Text in="code">{made.path}</Text>
          </p>
          {made.secret !== undefined && (
            <p>
              Its secret, shown only now: <Text in="code">{made.secret}</Text>
            </p>
          )}
          <button type="button" onClick={() => setMade(undefined)}>
            I have noted it
          </button>
        </div>
      )}
      <details>
        <summary>Start it after an event</summary>
        <SubmitForm onSubmit={add}>
          <ChoiceField name="Start it when" value={kind} choices={kinds} onChoose={setKind} />
          {kind === "webhook" && (
            <>
              {choice("sender", "Sender", senders)}
              {field("secret", "Name of the secret", {
                about: "optional",
                help: "Requests are signed with it. Without a name, a secret is made and shown once. Stripe and Slack make theirs: set it under System first.",
                example: "GITHUB_HOOK",
              })}
              {choice("answer", "The sender gets", ["the id of the event at once", "the value of the program"])}
            </>
          )}
          {kind === "file" &&
            field("file", "Files", {
              help: "A path or a glob, in the workspace or absolute.",
              example: "inbox/*.csv",
            })}
          {(kind === "resource" || kind === "list") && field("server", "Server", { example: "docs" })}
          {kind === "resource" && field("uri", "Resource", { example: "file:///notes.md" })}
          {kind === "list" && choice("list", "List", lists)}
          {kind === "after" && (
            <>
              {field("after", "Program", { example: "nightly" })}
              {choice("outcome", "If it", ["has ended", "has succeeded", "has failed"])}
            </>
          )}
          <InputFields
            inputs={inputs.map((each) => ({ ...each, isRequired: false }))}
            texts={texts}
            onInput={setTexts}
          />
          <LinesField
            name="Inputs that are made of the event"
            about="one a line, optional"
            example="number=event.body.issue.number"
            value={form["map"] ?? ""}
            onInput={set("map")}
          />
          {field("filter", "Only if", { about: "a condition in CEL, optional", example: 'event.type == "issues"' })}
          {field("limit", "Runs within a minute", { about: "optional", example: "60" })}
          {field("id", "Name of the trigger", { about: "optional", example: name })}
          <div class="actions">
            <button type="submit" disabled={isRunning}>
              {isRunning ? "Adding …" : "Add the trigger"}
            </button>
          </div>
        </SubmitForm>
      </details>
    </>
  );
}

/** The source as the flags of `claudikins programs on` name it. */
function sourceOf(kind: Kind, text: (key: string) => string): Record<string, string> {
  switch (kind) {
    case "webhook":
      return {
        webhook: text("sender") || "standard",
        ...(text("secret") === "" ? {} : { secret: text("secret") }),
        ...(text("answer").startsWith("the value") ? { answer: "result" } : {}),
      };
    case "file":
      return { file: text("file") };
    case "resource":
      return { resource: `${text("server")}=${text("uri")}` };
    case "list":
      return { list: `${text("server")}=${text("list") || "tools"}` };
    case "after": {
      const only = { "has succeeded": "done", "has failed": "failed" }[text("outcome")];
      return { after: text("after"), ...(only === undefined ? {} : { if: only }) };
    }
  }
}

interface NewTestProps {
  program: PageProgram;
  onMade(): Promise<void>;
}

export function NewTest({ program: { name, door, inputs }, onMade }: NewTestProps) {
  const notices = useNotices();
  const { isRunning, run } = useAction();
  const [texts, setTexts] = useState<Record<string, string>>({});
  const [as, setAs] = useState("");
  const make = () =>
    run(async () => {
      const body = { name, door, input: givenTexts(inputs, texts), ...(as === "" ? {} : { as }) };
      const { recording, calls, isPrivateReplaced } = await post<PageRecorded>("programs/record", body);
      const hidden = isPrivateReplaced ? "Placeholders stand for private data." : undefined;
      notices.changed(`Recorded ${recording}: ${counted(calls, "call")}`, hidden);
      setAs("");
      await onMade();
    });
  return (
    <details>
      <summary>Make a test</summary>
      <SubmitForm onSubmit={make}>
        <p class="about">
          The program runs now with this input, and really calls its tools. Its calls and its value become a test.
        </p>
        <InputFields inputs={inputs} texts={texts} onInput={setTexts} />
        <Field name="Name of the test" about="optional" example="september" value={as} onInput={setAs} />
        <div class="actions">
          <button type="submit" disabled={isRunning}>
            {isRunning ? "Running …" : "Run it and keep the test"}
          </button>
        </div>
      </SubmitForm>
    </details>
  );
}
