/** Opens the sign-in page in a browser, or shows its address and reads the pasted redirect. */
import type { DeviceGuide, Guide } from "../../setup/sign-in/sign-in.ts";
import type { Io } from "../io.ts";
import { hasBrowser, openBrowser } from "./browser.ts";

export interface GuideOptions {
  server: string;
  /** False with `--no-browser`. */
  browser: boolean;
  /** Writes each message as one line of JSON. */
  json: boolean;
  /** Called before each message. */
  onSay?: () => void;
}

type SignInAttempt = Parameters<Guide["send"]>[0];

export class TerminalGuide implements Guide {
  readonly #io: Io;
  readonly #options: GuideOptions;
  #isReading = false;

  constructor(io: Io, options: GuideOptions) {
    this.#io = io;
    this.#options = options;
  }

  send(attempt: SignInAttempt): void {
    const { server, browser, json } = this.#options;
    if (json) this.#sayJson({ signIn: { server, url: attempt.to.href, redirectUrl: attempt.back.href } });
    if (!browser || !hasBrowser(this.#io.env)) {
      this.#say(`To sign in to ${server}, open this address in a browser:\n\n  ${attempt.to.href}\n`);
      this.#askForPaste(attempt);
      return;
    }
    this.#say(
      `Opening your browser to sign in to ${server}. If it does not open, go to this address:\n\n  ${attempt.to.href}\n`,
    );
    // The browser may be on another machine. Piped input is not a pasted redirect.
    if (this.#io.stdin.isTerminal) this.#listen(attempt);
    void openBrowser(attempt.to, this.#io.env, attempt.ended).then((isOpen) => {
      if (isOpen || attempt.ended.aborted) return;
      this.#say("No browser could be opened. Open the address above in a browser.");
      this.#askForPaste(attempt);
    });
  }

  showCode({ userCode, page, completePage }: Parameters<DeviceGuide["showCode"]>[0]): void {
    const { server, json } = this.#options;
    const complete = completePage?.href;
    if (json) this.#sayJson({ signIn: { server, url: page.href, code: userCode, completeUrl: complete } });
    const or = complete === undefined ? "" : `\nOr open this address, which contains the code:\n\n  ${complete}\n`;
    this.#say(
      `To sign in to ${server}, open this address in a browser on any machine:\n\n  ${page.href}\n\nand enter the code:\n\n  ${userCode}\n${or}`,
    );
  }

  stray(): void {
    const problem = "An answer arrived for another sign-in. Still waiting for this one.";
    if (this.#options.json) this.#sayJson({ problem });
    else this.#say(problem);
  }

  #askForPaste(attempt: SignInAttempt): void {
    this.#say(
      `After the sign-in, the browser goes to ${attempt.back.href}.\nIf it runs on another machine and cannot load that page, copy the full address\nfrom the browser and paste it here.\n`,
    );
    this.#listen(attempt);
  }

  #listen(attempt: SignInAttempt): void {
    if (this.#isReading) return;
    this.#isReading = true;
    // Without input, the browser may still redirect.
    this.#read(attempt).catch(() => {});
  }

  async #read({ paste, ended }: SignInAttempt): Promise<void> {
    for (;;) {
      const line = await this.#io.stdin.line({ signal: ended });
      if (line === undefined) return;
      if (line.trim() === "") continue;
      const problem = paste(line);
      if (problem === undefined) return;
      if (this.#options.json) this.#sayJson({ problem });
      else this.#say(problem);
    }
  }

  #say(text: string): void {
    this.#options.onSay?.();
    if (!this.#options.json) void this.#io.stderr.write(`${text}\n`);
  }

  #sayJson(line: object): void {
    this.#options.onSay?.();
    void this.#io.stderr.write(`${JSON.stringify(line)}\n`);
  }
}
