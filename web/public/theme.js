// Before the first paint: the colours the user chose, or those of the system.
(() => {
  let kept = null;
  try {
    kept = localStorage.getItem('farhand-theme');
  } catch {
    // Storage is forbidden: the system decides.
  }
  const system = matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark';
  document.documentElement.dataset.theme = kept === 'light' || kept === 'dark' ? kept : system;
})();
