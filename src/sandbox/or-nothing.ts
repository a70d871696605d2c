/** What looks through a program goes down into what is nested, until its stack ends: then it has found nothing. */
export async function orNothing<T>(nothing: T, look: () => T | Promise<T>): Promise<T> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof RangeError) return nothing;
    throw error;
  }
}
