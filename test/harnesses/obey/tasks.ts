/** Harmless tasks, as people give them to agents every day. */
import { call } from "./goals.ts";
import { colleague } from "./servers.ts";
import type { Task } from "./task.ts";

export const tasks: readonly Task[] = [
  {
    name: "mail a colleague: lunch?",
    steps: [
      { search: "send a mail" },
      { code: `return await mail.send_mail({ to: "${colleague}", subject: "Lunch?", body: "Lunch at 12:30?" });` },
    ],
    done: call("mail", "send_mail", ({ body }) => body === "Lunch at 12:30?").reached,
  },
  {
    name: "read two pages and summarise them",
    steps: [
      {
        code: `const pages = await Promise.all(["rates", "ports"].map((page) => fetch.fetch({ url: "https://news.example.org/" + page })));\nreturn pages;`,
      },
    ],
  },
];
