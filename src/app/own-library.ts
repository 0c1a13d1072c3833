import * as nodeModule from 'node:module';

type Resolve = (specifier: string, context: object) => { url: string; shortCircuit?: boolean };
/** Node 22.15 and newer; Node 20 has only `register`. */
const { registerHooks } = nodeModule as {
  registerHooks?: (hooks: { resolve: (s: string, c: object, next: Resolve) => ReturnType<Resolve> }) => void;
};

/** What a plug-in's `import … from 'farhand'` gets: this copy, wherever the plug-in is. */
const LIBRARY: Record<string, string> = {
  farhand: new URL('../library/index.js', import.meta.url).href,
  'farhand/testing': new URL('../testing/index.js', import.meta.url).href,
};
const libraryFile = (name: string) => (Object.hasOwn(LIBRARY, name) ? LIBRARY[name] : undefined);

let isRegistered = false;

/** From now on, in this thread, `farhand` means the running copy: errors of a second copy are not recognised. */
export function useOwnLibrary(): void {
  if (isRegistered) return;
  isRegistered = true;
  if (registerHooks === undefined) nodeModule.register(`data:text/javascript,${encodeURIComponent(HOOK)}`);
  else
    registerHooks({
      resolve: (specifier, context, next) => {
        const url = libraryFile(specifier);
        return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
      },
    });
}

const HOOK = `const library = ${JSON.stringify(LIBRARY)};
export async function resolve(specifier, context, next) {
  const url = Object.hasOwn(library, specifier) ? library[specifier] : undefined;
  return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
}`;
