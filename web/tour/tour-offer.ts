const KEY = 'farhand-tour';

/** Whether this browser has not been offered the tour yet. */
export function isNewcomer(): boolean {
  try {
    return localStorage.getItem(KEY) === null;
  } catch {
    return false;
  }
}

/** Does not offer it again. */
export function forgetOffer(): void {
  try {
    localStorage.setItem(KEY, 'seen');
  } catch {
    // Storage is blocked: offered again after a reload.
  }
}
