import { spawn } from 'node:child_process';

/** Opens the page if there is a desktop; otherwise silently does nothing. */
export function openBrowser(url: string): void {
  const hasDesktop = process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY'];
  const command =
    process.platform === 'darwin'
      ? 'open'
      : process.platform === 'win32'
        ? 'explorer'
        : hasDesktop
          ? 'xdg-open'
          : null;
  if (command === null || process.env['CI'] || !process.stdout.isTTY) return;
  const child = spawn(command, [url], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}
