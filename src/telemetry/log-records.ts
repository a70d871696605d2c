/** Sends the lines of the log as log records. */
import { type Logger, ROOT_CONTEXT, SeverityNumber, trace } from "@opentelemetry/api";
import type { LogLevel } from "../base/log.ts";
import type { SpanOfLines } from "./tracing.ts";

/** Characters of a log line that is sent. */
const maxLogLineChars = 8_192;

const severities: Record<LogLevel, SeverityNumber> = {
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
};

/** A function that sends a line with the trace that it was written in. */
export function lineSender(logger: Logger, lines: SpanOfLines): (level: LogLevel, message: string) => void {
  return (level, message) => {
    const span = lines.getStore();
    logger.emit({
      severityNumber: severities[level],
      severityText: level.toUpperCase(),
      body: message.slice(0, maxLogLineChars),
      ...(span ? { context: trace.setSpanContext(ROOT_CONTEXT, span) } : {}),
    });
  };
}
