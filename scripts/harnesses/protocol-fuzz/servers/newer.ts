/**
 * A fuzzed server of 2026-07-28. Arguments: its name, and the file where gated calls are recorded. `ask` asks hostile questions, as
 * required input or as a task that changes and withdraws its questions and ends early.
 */
import { type Result, Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { Random } from "../../random.ts";
import { hostileKey, hostileQuestion } from "../questions.ts";
import { gatedTools, record } from "./record.ts";

const [name = "", recordFile = ""] = process.argv.slice(2);

/** What a task asks until a moment. */
interface Phase {
  until: number;
  questions: Record<string, object>;
}

const tasks = new Map<string, { phases: Phase[]; end: object }>();

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });

function questionsOf(random: Random): Record<string, object> {
  const count = random.below(4);
  return Object.fromEntries(Array.from({ length: count }, () => [hostileKey(random), hostileQuestion(random, name)]));
}

function begin(random: Random): Result {
  const taskId = random.chance(0.2) ? `task-${random.below(3)}` : crypto.randomUUID();
  let until = performance.now();
  // One question that is withdrawn while the agent answers it, or several sets of questions.
  const isOne = random.chance(0.5);
  const phases = Array.from({ length: isOne ? 1 : 1 + random.below(4) }, (): Phase => {
    until += isOne ? 150 + random.below(200) : random.below(250);
    const key = random.chance(0.5) ? "elicitation-1" : hostileKey(random);
    return { until, questions: isOne ? { [key]: hostileQuestion(random, name) } : questionsOf(random) };
  });
  const end = random.pick([
    { status: "completed", result: text("asked") },
    { status: "completed", result: text("asked") },
    { status: "failed", error: { code: -32_603, message: "it broke" } },
    { status: "cancelled" },
  ]);
  tasks.set(taskId, { phases, end });
  return { resultType: "task", ...stateOf(taskId), status: "working" } as Result;
}

function stateOf(taskId: string): object {
  const now = new Date().toISOString();
  return { taskId, createdAt: now, lastUpdatedAt: now, ttlMs: 60_000, pollIntervalMs: 20 };
}

const server = new Server(
  { name, version: "1" },
  { capabilities: { tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } } },
);

server.setRequestHandler("tools/list", () => ({
  tools: ["ask", ...gatedTools].map((tool) => ({ name: tool, inputSchema: { type: "object" as const } })),
}));

server.setRequestHandler("tools/call", ({ params: { name: tool, arguments: args = {} } }, { mcpReq }) => {
  const isRepeated = mcpReq.inputResponses !== undefined;
  if (tool !== "ask") {
    if (!isRepeated) record(recordFile, name, tool, args);
    return text("done");
  }
  const random = new Random(Number(args["seed"]), Number(args["index"]));
  const isTask = random.chance(0.7);
  if (isRepeated || (!isTask && random.chance(0.2))) return text("asked");
  if (isTask) return begin(random) as never;
  const inputRequests = { [hostileKey(random)]: hostileQuestion(random, name), ...questionsOf(random) };
  return { resultType: "input_required", inputRequests, requestState: random.pick(["s", "", "claudikins"]) } as never;
});

const byId = z.object({ taskId: z.string() });
server.setRequestHandler("tasks/get", { params: byId }, ({ taskId }): Result => {
  const { phases = [], end = { status: "cancelled" } } = tasks.get(taskId) ?? {};
  const now = performance.now();
  const phase = phases.find(({ until }) => until > now);
  if (!phase) return { ...stateOf(taskId), ...end } as Result;
  const { questions } = phase;
  const isAsking = Object.keys(questions).length > 0;
  return {
    ...stateOf(taskId),
    status: isAsking ? "input_required" : "working",
    ...(isAsking ? { inputRequests: questions } : {}),
  } as Result;
});
server.setRequestHandler("tasks/update", { params: byId }, (): Result => ({ resultType: "complete" }));
server.setRequestHandler("tasks/cancel", { params: byId }, ({ taskId }): Result => {
  tasks.delete(taskId);
  return { resultType: "complete" };
});

const handle = serveStdio(() => server, { legacy: "reject" });
process.stdin.on("end", () => void handle.close());
