export async function hostile(_command: readonly string[]): Promise<number> {
  return 0;
}
