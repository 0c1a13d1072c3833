import type koffi from 'koffi';
import { TeleopError } from '../core/errors.ts';

export type Pointer = Uint8Array | null;

const ARCHITECTURES = ['x64', 'arm64', 'riscv64', 'loong64'];

/**
 * Binds calls of the system's C library through the optional package koffi; `signatures` are C prototypes by name.
 * `hint`: what to do without it. Throws `native-unavailable` if the package or platform support is missing.
 */
export async function bindLibc<C>(
  signatures: Readonly<Record<keyof C, string>>,
  hint: string,
): Promise<{ calls: C; koffi: typeof koffi }> {
  try {
    if (process.platform !== 'linux' || !ARCHITECTURES.includes(process.arch))
      throw new Error(`${process.platform}-${process.arch} is not 64-bit little-endian Linux`);
    const { default: koffi } = await import('koffi');
    const library = koffi.load('libc.so.6');
    const bound = Object.entries<string>(signatures).map(([name, text]) => [name, library.func(text)]);
    return { calls: Object.fromEntries(bound) as C, koffi };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new TeleopError('native-unavailable', `native calls are not available: ${why}`, { hint, cause });
  }
}
