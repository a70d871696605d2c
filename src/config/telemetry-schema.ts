/** The schema of `telemetry`. */
import { z } from "zod";
import { addressProblem, headerName, headerValue } from "./address.ts";
import { type TelemetryEntry, telemetryProtocols } from "./telemetry.ts";

export const telemetryFields = {
  /** The base address of a receiver of OTLP over HTTP. */
  endpoint: z
    .string()
    .superRefine((url, context) => {
      const message = addressProblem(url, "http");
      if (message !== undefined) context.addIssue({ code: "custom", message });
    })
    .optional(),
  headers: z
    .record(z.string().regex(headerName, "not a valid header name"), z.string().regex(headerValue, "must be one line"))
    .optional(),
  protocol: z.enum(telemetryProtocols).optional(),
  traces: z.boolean().optional(),
  metrics: z.boolean().optional(),
  logs: z.boolean().optional(),
  /** Whether the entries of the audit log are sent with the lines of the log. */
  audit: z.boolean().optional(),
  /** Whether the calls of the call log are sent with the lines of the log. */
  calls: z.boolean().optional(),
  /** Whether spans name the person for whom they are, as `user.id`. */
  people: z.boolean().optional(),
  /** Whether spans have the arguments and results of calls. */
  contents: z.boolean().optional(),
  /** Whether `serve --http` answers at `/metrics`. */
  prometheus: z.boolean().optional(),
};

export const telemetrySchema: z.ZodType<TelemetryEntry> = z.object(telemetryFields);
