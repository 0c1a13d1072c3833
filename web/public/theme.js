// Runs before the first paint: sets the theme the user chose, or the system theme.
(() => {
  let stored = null;
  try {
    stored = localStorage.getItem('farhand-theme');
  } catch {
    // Storage is blocked: use the system theme.
  }
  const system = matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark';
  document.documentElement.dataset.theme = stored === 'light' || stored === 'dark' ? stored : system;
})();
