/** Diagrams of Mermaid, drawn in a headless Chromium. */
import { join } from "node:path";
import { writeChromium } from "../chromium.ts";
import type { Plan } from "../plan.ts";

const outputs = ["base64", "svg", "mermaid", "file", "svg_url", "png_url"];

export const mermaid: Plan = {
  server: "ui/mermaid",
  package: "mcp-mermaid@0.4.1",
  // Playwright looks for a build of Chromium with its own number.
  overrides: { playwright: "1.65.1" },
  env: ({ folder }) => ({ PLAYWRIGHT_BROWSERS_PATH: folder }),
  prepare({ folder }) {
    writeChromium(join(folder, "chromium_headless_shell-1255/chrome-headless-shell-linux64/chrome-headless-shell"));
  },
  calls: outputs.map((outputType) => ({
    tool: "generate_mermaid_diagram",
    args: () => ({ mermaid: "graph TD; A-->B;", outputType }),
    text: {
      says: "base64: an image block with the PNG; svg: the SVG; mermaid: the source; file: a sentence with the path; svg_url and png_url: the address",
      pattern: /^(?:\[image\]|<svg [\s\S]*<\/svg>|graph TD; A-->B;|.*\/.*\.png.*|https:\/\/\S+)$/,
    },
  })),
};
