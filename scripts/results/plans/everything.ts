/** Calls of the reference server Everything. */
import type { Plan } from "../plan.ts";

const annotated = {
  says: "a sentence; with includeImage, a text block with it and an image block",
  pattern: /^.+(?:\n\[image\])?$/,
};
const gzipped = {
  says: "one block: a resource_link, or with outputType resource the resource, with the gzip file in base64 as its blob",
  pattern: /^\[resource(?:_link)?\]$/,
};
const toggled = { says: "a sentence that begins with Started or Stopped", pattern: /^(?:Started|Stopped) / };

export const everything: Plan = {
  server: "testing/everything",
  package: "@modelcontextprotocol/server-everything@2026.8.31",
  usual: ["get-sum"],
  args: () => ["stdio"],
  calls: [
    {
      tool: "echo",
      args: () => ({ message: "hello" }),
      text: { says: '"Echo: " and the message', pattern: /^Echo: / },
    },
    {
      tool: "get-annotated-message",
      args: () => ({ messageType: "success" }),
      text: annotated,
    },
    {
      tool: "get-annotated-message",
      args: () => ({ messageType: "success", includeImage: true }),
      text: annotated,
    },
    { tool: "get-env" },
    {
      tool: "get-resource-links",
      args: () => ({ count: 2 }),
      text: {
        says: "a text block with a sentence, then one resource_link block per link",
        pattern: /^.+(?:\n\[resource_link\]){2}$/,
      },
    },
    {
      tool: "get-resource-reference",
      args: () => ({ resourceType: "Text", resourceId: 1 }),
      text: {
        says: "a text block with a sentence, a resource block, a text block with a sentence",
        pattern: /^.+\n\[resource\]\n.+$/,
      },
    },
    { tool: "get-structured-content", args: () => ({ location: "Chicago" }) },
    {
      tool: "get-sum",
      args: () => ({ a: 1, b: 2 }),
      text: { says: "a sentence that ends with the sum and a full stop", pattern: /^The sum of .+ is \d+\.$/ },
    },
    {
      tool: "get-tiny-image",
      text: {
        says: "a text block with a sentence, an image block with a PNG in base64, a text block with a sentence",
        pattern: /^.+\n\[image\]\n.+$/,
      },
    },
    {
      tool: "gzip-file-as-resource",
      args: () => ({ name: "a.gz", data: "data:text/plain;base64,aGVsbG8=" }),
      text: gzipped,
    },
    {
      tool: "gzip-file-as-resource",
      args: () => ({ name: "a.gz", data: "data:text/plain;base64,aGVsbG8=", outputType: "resource" }),
      text: gzipped,
    },
    { tool: "toggle-simulated-logging", text: toggled },
    { tool: "toggle-simulated-logging", text: toggled },
    { tool: "toggle-subscriber-updates", text: toggled },
    { tool: "toggle-subscriber-updates", text: toggled },
    {
      tool: "trigger-long-running-operation",
      args: () => ({ duration: 1, steps: 1 }),
      text: { says: "a sentence with the duration and the number of steps", pattern: /^.+ \d+ seconds, Steps: \d+\.$/ },
    },
  ],
  leftOut: { "simulate-research-query": "It can only be called as a task." },
};
