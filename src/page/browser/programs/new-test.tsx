/** Makes a test of a saved program: the program runs once, and its calls are kept as a recording. */
import { useState } from "preact/hooks";
import { counted } from "../../../base/counted.ts";
import type { PageProgram, PageRecorded } from "../../programs-contract.ts";
import { post } from "../client.ts";
import { Field } from "../field.tsx";
import { useAction, useNotices } from "../notice.tsx";
import { givenTexts, InputFields } from "./input-fields.tsx";

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
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          void make();
        }}
      >
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
      </form>
    </details>
  );
}
