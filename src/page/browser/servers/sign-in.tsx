/** Signing in to a server: the link to its authorization page, and a field for the redirect of browsers on other machines. */

import { useState } from "preact/hooks";
import type { PageServerEntry, PageSignIn } from "../../servers-contract.ts";
import { post } from "../client.ts";
import { SubmitForm } from "../field.tsx";
import { useAction } from "../notice.tsx";
import { Text } from "../text.tsx";

const words: Record<PageSignIn["state"], string> = {
  "signed in": "You are signed in.",
  expired: "Your sign-in has expired.",
  "signed out": "You are not signed in. The server may not need it.",
};

export function SignInPanel({ server, signIn }: { server: PageServerEntry; signIn: PageSignIn }) {
  const { name } = server;
  const { state, running, failed } = signIn;
  const { isRunning: isStarting, run } = useAction();
  const start = () => run(() => post("sign-in", { server: name }));
  if (running) return <Running server={name} {...running} />;
  const isNeeded = state === "expired" || server.state === "signed out";
  return (
    <div class="sign-in">
      <p>{server.state === "signed out" ? "This server needs a sign-in." : words[state]}</p>
      {failed !== undefined && (
        <Text in="p" class="warning">
          {failed}
        </Text>
      )}
      {state !== "signed in" && (
        <button type="button" class={isNeeded ? "primary" : ""} disabled={isStarting} onClick={() => void start()}>
          {isStarting ? "Contacting the server …" : "Sign in"}
        </button>
      )}
    </div>
  );
}

function Running({ server, url, back, problem }: { server: string } & NonNullable<PageSignIn["running"]>) {
  const { run } = useAction();
  const [address, setAddress] = useState("");
  const paste = async () => {
    await post("sign-in/address", { server, address });
    setAddress("");
  };
  return (
    <div class="sign-in">
      <p>
        <a class="button primary" href={url} target="_blank" rel="noopener noreferrer">
          Continue at <Text>{new URL(url).host}</Text>
        </a>
      </p>
      {problem !== undefined && <p class="warning">{problem}</p>}
      <details>
        <summary>The browser could not load the last page?</summary>
        <SubmitForm class="sign-in-back" onSubmit={() => run(paste)}>
          <label>
            Paste its address, which begins with <Text>{back}</Text>
            <input
              type="text"
              autoComplete="off"
              value={address}
              onInput={(event) => setAddress(event.currentTarget.value)}
            />
          </label>
          <button type="submit">Continue</button>
        </SubmitForm>
      </details>
    </div>
  );
}
