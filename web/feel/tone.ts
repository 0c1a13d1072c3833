import type { Pulse } from '../../src/hand/touch-feel.ts';

/** A short tone for hands that hold nothing: higher for a harder contact. A running tone is replaced. */
export class ContactTone {
  #context: AudioContext | null = null;
  #playing: OscillatorNode | null = null;

  /** Call from a click or a session start: browsers allow sound only after one. */
  allow(): void {
    this.#context ??= new AudioContext();
    void this.#context.resume().catch(() => {});
  }

  /** False before it is allowed. */
  play({ strength, durationMs }: Pulse): boolean {
    const context = this.#context;
    if (context === null || context.state !== 'running') return false;
    this.#playing?.stop();
    const oscillator = context.createOscillator();
    const gain = context.createGain();
    oscillator.frequency.value = 180 + 260 * strength;
    gain.gain.value = 0.12 * strength;
    gain.gain.setTargetAtTime(0, context.currentTime + durationMs / 1000, 0.02);
    oscillator.connect(gain).connect(context.destination);
    oscillator.start();
    oscillator.stop(context.currentTime + durationMs / 1000 + 0.12);
    this.#playing = oscillator;
    return true;
  }
}
