/** What stands only in a description reaches the agent: values of an argument, and what must be done before a call. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { App } from "../../src/app/app.ts";
import { surfaceOf } from "../../src/serve/surface/surface.ts";
import { callSearchTools } from "../../src/serve/tools/search-tools.ts";
import { generate } from "../../src/tools/generate.ts";
import { type Project, project } from "../tools/generation/project.ts";

// The server is a process of its own.
setDefaultTimeout(60_000);

let folder: Project;
let app: App;
beforeAll(async () => {
  folder = project();
  folder.configure({
    shop: folder.offering("shop", {
      cancel_pending_order: {
        description:
          "Cancel a pending order. The refund is paid within a week. The agent needs to ask for explicit confirmation (yes/no) to proceed.",
        inputSchema: {
          type: "object",
          properties: {
            order_id: { type: "string", description: "The order id, such as '#W0000000'." },
            reason: {
              type: "string",
              description: "The reason, which should be either 'no longer needed' or 'ordered by mistake'.",
            },
            signed_by: { type: "string", description: "Who decided." },
          },
          required: ["order_id", "reason", "signed_by"],
        },
      },
    }),
  });
  app = await folder.open();
  await generate(app);
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

test("a search shows the values and the precondition, and no example that the tool would refuse", async () => {
  const { content } = await callSearchTools({ query: "cancel order" }, app, new AbortController().signal);
  expect((content as { text: string }[])[0]!.text).toBe(
    [
      'shop.cancel_pending_order(args: { order_id: string; reason: "no longer needed" | "ordered by mistake"; signed_by: string }): Promise<unknown>',
      "  Cancel a pending order. The agent needs to ask for explicit confirmation (yes/no) to proceed.",
      '  e.g. { order_id: "#W0000000", reason: "no longer needed", signed_by: "…" }',
    ].join("\n"),
  );
});

test("the surface shows the values of a required argument", async () => {
  const { instructions } = await surfaceOf(app);
  expect(instructions).toContain('reason: "no longer needed" | "ordered by mistake"');
});
