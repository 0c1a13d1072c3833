import { defineConfig } from 'vite';

/** The console: static files under dist/web, served by the operator process on any path. */
export default defineConfig({
  base: './',
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
  },
  server: { proxy: { '/ws': { target: 'ws://127.0.0.1:4747', ws: true } } },
});
