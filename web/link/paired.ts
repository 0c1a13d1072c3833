/** Whether the console knows this device. True when the console does not respond. */
export async function isPaired(): Promise<boolean> {
  try {
    const response = await fetch('./api/access');
    return !response.ok || ((await response.json()) as { role: string | null }).role !== null;
  } catch {
    return true;
  }
}

/** Makes the links to the pairing page carry where the visitor is, so that pairing leads back here. */
export function returnAfterPairing(): void {
  document.addEventListener('click', ({ target }) => {
    const link = target instanceof Element ? target.closest('a') : null;
    if (link === null || link.origin !== location.origin || !link.pathname.endsWith('/pair')) return;
    link.search = new URLSearchParams({
      back: location.pathname + location.search + location.hash,
    }).toString();
  });
}
