/** Starts the page: exchanges the token of the address for a session, and removes it from the address and the history. */
import { render } from "preact";
import { App, NoSession } from "./app.tsx";
import { post, RequestFailure } from "./client.ts";
import { wantedHash, wantedIn } from "./place.ts";

const wanted = wantedIn(location);
const token = wanted === undefined ? location.hash.slice(1) : "";
history.replaceState(history.state, "", `${location.pathname}${wanted === undefined ? "" : wantedHash(wanted)}`);

const root = document.getElementById("page")!;

async function start(): Promise<void> {
  if (token !== "") await post("session", { token });
  render(<App />, root);
}

start().catch((error: unknown) => {
  const { message, hint } = error instanceof RequestFailure ? error : { message: String(error), hint: undefined };
  render(<NoSession why={{ problem: message, hint }} />, root);
});
