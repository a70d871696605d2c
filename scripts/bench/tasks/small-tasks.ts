/** Small tasks with a call or two and small results, where code saves little. */
import { ask, read, type Task, well } from "./task.ts";

const lookedUp: Task = {
  name: "look one order up",
  request: "What is the status of order ord_00042?",
  answer: "delivered",
  direct: async (agent) => read(await ask(agent, "demo", "get_order", { order_id: "ord_00042" })).status,
  async code(agent) {
    if (!agent.shows("demo.get_order")) await agent.search(["get order by id"], "demo");
    const order = await agent.execute(`return await demo.get_order({ order_id: "ord_00042" });`);
    return (order as { status: string }).status;
  },
};

const tiny: Task = {
  name: "one tiny call",
  request: "Add 19 and 23 with the sum tool.",
  answer: "The sum of 19 and 23 is 42.",
  direct: async (agent) => well(await ask(agent, "everything", "get-sum", { a: 19, b: 23 })),
  async code(agent) {
    if (!agent.shows("everything.get_sum")) await agent.search(["add two numbers"]);
    return agent.execute("return await everything.get_sum({ a: 19, b: 23 });");
  },
};

const entities = [
  { name: "Ines", entityType: "person", observations: ["leads the shop's team", "works from Lyon"] },
  { name: "Jonas", entityType: "person", observations: ["keeps the warehouse in Rotterdam"] },
  { name: "shop", entityType: "project", observations: ["is moved to the new servers in March"] },
];
const relations = [
  { from: "Ines", to: "shop", relationType: "leads" },
  { from: "Jonas", to: "shop", relationType: "works on" },
];
const written = (value: object) => JSON.stringify(value, null, 2).replace(/"(\w+)":/g, "$1:");

const remembered: Task = {
  name: "remember three things",
  request:
    "Remember: Ines leads the shop's team and works from Lyon; Jonas keeps the warehouse in Rotterdam and works on the shop; it is moved to the new servers in March.",
  answer: [3, 2],
  async direct(agent) {
    const made = read(await ask(agent, "memory", "create_entities", { entities }));
    const related = read(await ask(agent, "memory", "create_relations", { relations }));
    return [made.length, related.length];
  },
  async code(agent) {
    if (!agent.shows("memory.create_entities", "memory.create_relations"))
      await agent.search(["create entities in the memory", "create relations in the memory"]);
    return agent.execute(`
const made = await memory.create_entities({ entities: ${written(entities)} });
const related = await memory.create_relations({ relations: ${written(relations)} });
return [made.entities.length, related.relations.length];`);
  },
};

const recalled: Task = {
  name: "recall one thing",
  request: "Where does Ines work from? Look into the memory.",
  answer: "works from Lyon",
  async direct(agent) {
    const { entities } = read(await ask(agent, "memory", "search_nodes", { query: "Ines" }));
    return entities[0].observations[1];
  },
  async code(agent) {
    if (!agent.shows("memory.search_nodes")) await agent.search(["look something up in the memory"]);
    const found = await agent.execute(`return (await memory.search_nodes({ query: "Ines" })).entities;`);
    return (found as { observations: string[] }[])[0]?.observations[1];
  },
};

export const smallTasks = [lookedUp, tiny, remembered, recalled];
