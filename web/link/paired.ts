/** Whether the console knows this device. True when the console does not respond. */
export async function isPaired(): Promise<boolean> {
  try {
    const response = await fetch('./api/access');
    return !response.ok || ((await response.json()) as { role: string | null }).role !== null;
  } catch {
    return true;
  }
}
