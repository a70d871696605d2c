/** Takes the screenshots of the page for the docs: `bun run screenshots [--out folder] [--all] [--scene usual|empty|full|hostile]`. */
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Scene } from "../../test/page/scene.ts";
import { openBrowser } from "../../test/support/browser.ts";
import { root } from "../../test/support/claudikins.ts";
import { madeUpScene } from "./made-up-scene.ts";
import { emptyScene, fullScene, hostileScene } from "./other-scenes.ts";

const { values } = parseArgs({
  options: {
    out: { type: "string", default: join(root, "docs", "images") },
    /** All views in both colours and two widths, to look at. */
    all: { type: "boolean", default: false },
    /** The page that is shown, with `--all`. */
    scene: { type: "string", default: "usual" },
  },
});
const out = resolve(values.out);
mkdirSync(out, { recursive: true });

const scenes: Record<string, () => Promise<Scene>> = {
  ...{ usual: madeUpScene, empty: emptyScene, full: fullScene, hostile: hostileScene },
};
const open = scenes[values.scene];
if (!open) throw new Error(`--scene takes ${Object.keys(scenes).join(", ")}`);
await using scene = await open();
const browser = await openBrowser();
try {
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of values.all ? [1280, 390, 2560] : [1180]) {
      const context = await browser.newContext({
        viewport: { width, height: width === 390 ? 780 : width === 2560 ? 1300 : 820 },
        colorScheme,
      });
      const page = await context.newPage();
      page.on("console", (message) => console.error(message.text()));
      page.on("pageerror", (error) => console.error(error));
      await page.goto(scene.url);
      await page
        .locator(values.scene === "empty" ? "main .panel" : ".card")
        .first()
        .waitFor();
      const shot = (name: string) =>
        page.screenshot({
          path: join(out, `${name}.png`),
          animations: "disabled",
          fullPage: values.all && values.scene !== "full",
        });
      if (!values.all) await shot(`ui-${colorScheme}`);
      if (!values.all && colorScheme === "light") {
        await page.keyboard.press("2");
        await page.locator(".activity-row").first().waitFor();
        await shot("ui-activity-light");
        await page.keyboard.press("3");
        await page.locator("#server").waitFor();
        await shot("ui-servers-light");
        await page.keyboard.press("4");
        await page.locator("#program").waitFor();
        await shot("ui-programs-light");
        await page.keyboard.press("5");
        await page.locator(".tool-row").first().waitFor();
        await shot("ui-tools-light");
        await page.keyboard.press("6");
        await page.locator(".figures-head").waitFor();
        await shot("ui-figures-light");
        await page.keyboard.press("7");
        await page.locator(".cm-content").click();
        await page.keyboard.type(
          'const issues = await github.list_issues({ owner: "acme", repo: "shop" });\nreturn linear.',
        );
        await page.locator(".cm-tooltip-autocomplete").waitFor();
        await shot("ui-try-it-light");
      }
      for (const key of values.all ? ["1", "2", "3", "4", "5", "6", "7", "8"] : []) {
        await page.keyboard.press(key);
        await page.waitForTimeout(300);
        await shot(`${key}-${colorScheme}-${width}`);
      }
      await context.close();
    }
  }
} finally {
  await browser.close();
}
