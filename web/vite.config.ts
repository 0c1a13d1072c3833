import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const page = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The console and the page of the virtual Bento arm: static files under dist/web, served on any path. */
export default defineConfig({
  base: './',
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    rollupOptions: { input: ['index', 'bento', 'vr', 'pair', 'trust'].map((name) => page(`./${name}.html`)) },
  },
  server: { proxy: { '/ws': { target: 'ws://127.0.0.1:4747', ws: true } } },
});
