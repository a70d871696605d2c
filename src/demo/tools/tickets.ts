/** The tools for support tickets and e-mails. */
import { objectSchema } from "../json-schema.ts";
import { listedTicket, PRIORITIES, TICKET_STATUSES } from "../model.ts";
import { findTicket, Refusal } from "../shop.ts";
import { ADDS, defineTool, jsonResult, READS } from "../tool.ts";

const TICKET_ID = { type: "string", description: "The ticket's id, such as tkt_0101." } as const;

const listTickets = defineTool({
  name: "list_tickets",
  title: "List support tickets",
  description:
    "Lists the customers' support tickets, oldest first, filtered by status and priority. Gives { tickets }; " +
    "a ticket has id, customer_id, order_id (if it is about an order), subject, status, priority, created_at.",
  annotations: READS,
  inputSchema: objectSchema(
    {
      status: { type: "string", enum: TICKET_STATUSES, description: "Only tickets in this status." },
      priority: { type: "string", enum: PRIORITIES, description: "Only tickets of this priority." },
    },
    ["status", "priority"],
  ),
  run({ status, priority }, { shop }) {
    const tickets = shop.tickets.filter(
      (ticket) =>
        (status === undefined || ticket.status === status) && (priority === undefined || ticket.priority === priority),
    );
    return jsonResult({ tickets: tickets.map(listedTicket) });
  },
});

const getTicket = defineTool({
  name: "get_ticket",
  title: "Get one support ticket",
  description:
    "Looks up one support ticket by its id. Gives the ticket with its conversation: messages, each with author (customer or support), " +
    "created_at, body.",
  annotations: READS,
  inputSchema: objectSchema({ ticket_id: TICKET_ID }),
  run: ({ ticket_id }, { shop }) => jsonResult(findTicket(shop, ticket_id)),
});

const replyTicket = defineTool({
  name: "reply_ticket",
  title: "Reply to a support ticket",
  description:
    "Answers a support ticket, and closes it on request; otherwise it is waiting afterwards, even if it was closed before. " +
    "Gives the ticket with its messages.",
  annotations: ADDS,
  inputSchema: objectSchema(
    {
      ticket_id: TICKET_ID,
      body: { type: "string", minLength: 1, description: "The text of the reply." },
      close: { type: "boolean", description: "true closes the ticket with this reply. Default: false." },
    },
    ["close"],
  ),
  run({ ticket_id, body, close }, { shop }) {
    const ticket = findTicket(shop, ticket_id);
    ticket.messages.push({ author: "support", created_at: shop.tick(), body });
    ticket.status = close === true ? "closed" : "waiting";
    return jsonResult(ticket);
  },
});

const sendEmail = defineTool({
  name: "send_email",
  title: "Send an e-mail",
  description: "Writes an e-mail to a customer. The demo records it and never sends it. Gives { message_id }.",
  annotations: ADDS,
  inputSchema: objectSchema({
    to: { type: "string", description: "The address, such as anna@example.com." },
    subject: { type: "string", minLength: 1, description: "The subject line." },
    body: { type: "string", minLength: 1, description: "The text." },
  }),
  run({ to, subject, body }, { shop }) {
    if (!/^[^\s@]+@[^\s@]+$/.test(to))
      throw new Refusal(`to is "${to}". Must be one e-mail address, such as anna@example.com.`);
    shop.emails.push({ to, subject, body });
    return jsonResult({ message_id: `msg_${String(shop.emails.length).padStart(4, "0")}` });
  },
});

export const TICKET_TOOLS = [listTickets, getTicket, replyTicket, sendEmail];
