/** `approvals.notify`: the address that is told when a call waits for a decision. */
import { z } from "zod";

/** Seconds in which a person may decide before the address is told. */
const usualWaitSeconds = 10;

export const approvalNoticeFields = {
  /** An address, or a reference to it such as `${secret:NTFY_URL}`. */
  url: z.string().min(1),
  /** The form of the message. */
  as: z.enum(["webhook", "ntfy", "slack"]).default("webhook"),
  /** Whether the reason and the beginning of the arguments are sent too. */
  contents: z.boolean().default(false),
  /** A reference to the secret with which requests are signed. */
  secret: z.string().min(1).optional(),
  afterSeconds: z.number().min(0).max(86_400).default(usualWaitSeconds),
};

export const approvalNoticeSchema = z.object(approvalNoticeFields);
export type ApprovalNotice = z.infer<typeof approvalNoticeSchema>;
