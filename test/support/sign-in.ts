/** People who sign in, for tests: with a browser that is started for them, or by hand. */
import { join } from "node:path";
import { root } from "./claudikins.ts";
import { scriptOf } from "./process.ts";

/** A $BROWSER that follows every redirect, and stores the last page in the file. */
export function browserCommand(page: string): string {
  return scriptOf([process.execPath, join(root, "test", "fixtures", "browser.ts"), page], `${page}.browser.sh`);
}

/** The redirect of the authorization server for a browser that opens this address. */
export async function redirectOf(authorizationUrl: string): Promise<string> {
  const response = await fetch(authorizationUrl, { redirect: "manual" });
  const location = response.headers.get("location");
  if (location === null) throw new Error(`no redirect: ${response.status} ${await response.text()}`);
  return location;
}

/** The address that a person is asked to open, in the output of the program. */
export function addressIn(text: string): string | undefined {
  return /^ {2}(http:\S+)\n/m.exec(text)?.[1];
}

/** The text with names for everything that differs between runs. */
export function steady(text: string): string {
  return text
    .replace(/http:\/\/127\.0\.0\.1:\d+\/callback/g, "http://127.0.0.1:PORT/callback")
    .replace(/http:\/\/127\.0\.0\.1:\d+\/(?:tenant\/)?authorize\?\S+/g, "ADDRESS")
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, "ORIGIN");
}
