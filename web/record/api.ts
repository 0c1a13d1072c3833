/** Fetches JSON from the console. Throws with the server's error message. */
export async function getJson<T>(path: string): Promise<T> {
  return answer<T>(await fetch(path));
}

export async function postJson<T>(path: string, body: unknown): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  return answer<T>(await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }));
}

async function answer<T>(response: Response): Promise<T> {
  if (response.ok) return (await response.json()) as T;
  let message = `the console returned status ${response.status}`;
  try {
    message = ((await response.json()) as { error?: string }).error ?? message;
  } catch {
    // No JSON error: report the status.
  }
  throw new Error(message);
}
