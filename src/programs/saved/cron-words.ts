/** Schedules in words. */
import cronstrue from "cronstrue";

/** `at 08:00, Monday through Friday`. The expression itself if it has no words. */
export function cronInWords(cron: string): string {
  try {
    const words = cronstrue.toString(cron, { use24HourTimeFormat: true });
    return words.charAt(0).toLowerCase() + words.slice(1);
  } catch {
    return cron;
  }
}
