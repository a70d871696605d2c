/** The tool that draws charts. */
import { barChart, formatValue } from "../chart.ts";
import { objectSchema } from "../json-schema.ts";
import { defineTool, READS } from "../tool.ts";

export const renderChart = defineTool({
  name: "render_chart",
  title: "Render a bar chart",
  description:
    "Draws a bar chart of labelled values. Gives it as an image (PNG) and a line of text that says what is on it.",
  annotations: READS,
  inputSchema: objectSchema({
    title: { type: "string", minLength: 1, maxLength: 120, description: "Written above the bars." },
    points: {
      type: "array",
      minItems: 1,
      maxItems: 400,
      description: "The bars, from top to bottom.",
      items: objectSchema({
        label: { type: "string", description: "Written beside the bar; cut after 24 characters." },
        value: { type: "number", description: "The length of the bar; may be negative." },
      }),
    },
  }),
  run({ title, points }) {
    const largest = points.reduce((max, point) => (point.value > max.value ? point : max));
    const bars = points.length === 1 ? "1 bar" : `${points.length} bars`;
    return {
      content: [
        { type: "image", data: barChart(title, points).toString("base64"), mimeType: "image/png" },
        {
          type: "text",
          text: `Bar chart "${title}": ${bars}, the largest is ${largest.label} with ${formatValue(largest.value)}.`,
        },
      ],
    };
  },
});
