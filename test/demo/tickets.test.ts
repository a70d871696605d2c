/** Tickets, replies and e-mails. */
import { expect, test } from "bun:test";
import { startDemoClient } from "./demo-client.ts";
import type { Ticket, TicketDetail } from "./shapes.ts";

test("tickets are filtered by status and priority, and returned with their messages", async () => {
  await using demo = await startDemoClient();
  const { tickets } = await demo.value<{ tickets: Ticket[] }>("list_tickets");
  const urgent = await demo.value<{ tickets: Ticket[] }>("list_tickets", { status: "open", priority: "urgent" });
  expect(urgent.tickets).toEqual(tickets.filter((t) => t.status === "open" && t.priority === "urgent"));
  expect(urgent.tickets.length).toBeGreaterThan(0);
  const [first] = urgent.tickets;
  const { messages, ...ticket } = await demo.value<TicketDetail>("get_ticket", { ticket_id: first!.id });
  expect(ticket).toEqual(first!);
  expect(messages[0]).toMatchObject({ author: "customer", created_at: first!.created_at });
  expect(await demo.failure("list_tickets", { status: "new" })).toStartWith(
    'status is "new". It must match {"type":"string","enum":["open","waiting","closed"],',
  );
  expect(await demo.failure("get_ticket", { id: "tkt_0101" })).toBe(
    'ticket_id is missing. It must match {"type":"string","description":"The ticket\'s id, such as tkt_0101."}\n' +
      'get_ticket has no "id". It takes: ticket_id.',
  );
});

test("a reply is added, and closes the ticket only when asked to", async () => {
  await using demo = await startDemoClient();
  const before = await demo.value<TicketDetail>("get_ticket", { ticket_id: "tkt_0320" });
  const reply = { ticket_id: "tkt_0320", body: "Hello, we are on it." };
  const replied = await demo.value<TicketDetail>("reply_ticket", reply);
  expect(replied.status).toBe("waiting");
  expect(replied.messages).toEqual([
    ...before.messages,
    { author: "support", created_at: "2025-12-31T18:00:01Z", body: reply.body },
  ]);
  const closed = await demo.value<TicketDetail>("reply_ticket", { ...reply, close: true });
  expect([closed.status, closed.messages.length]).toEqual(["closed", before.messages.length + 2]);
  expect(await demo.value<TicketDetail>("get_ticket", { ticket_id: "tkt_0320" })).toEqual(closed);
  expect(await demo.failure("reply_ticket", { ...reply, ticket_id: "tkt_0321" })).toBe(
    'No ticket "tkt_0321". Ids look like tkt_0101.',
  );
});

test("e-mails are recorded with their own numbers", async () => {
  await using demo = await startDemoClient();
  const email = { to: "anna@example.com", subject: "Shipped", body: "It is on its way." };
  expect(await demo.value<object>("send_email", email)).toEqual({ message_id: "msg_0001" });
  expect(await demo.value<object>("send_email", email)).toEqual({ message_id: "msg_0002" });
  expect(await demo.failure("send_email", { ...email, to: "Anna" })).toBe(
    'to is "Anna". Must be one e-mail address, such as anna@example.com.',
  );
});
