type Listener = (stream: MediaStream | null) => void;

/** Who shows which video. A session's videos end with it; those of the next one have the same names. */
export class VideoListeners {
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #streams = new Map<string, MediaStream>();

  add(video: string, listener: Listener): void {
    const listeners = this.#listeners.get(video) ?? new Set();
    listeners.add(listener);
    this.#listeners.set(video, listeners);
    const stream = this.#streams.get(video);
    if (stream !== undefined) listener(stream);
  }

  begin(video: string, stream: MediaStream): void {
    this.#streams.set(video, stream);
    for (const listener of this.#listeners.get(video) ?? []) listener(stream);
  }

  end(): void {
    for (const video of this.#streams.keys())
      for (const listener of this.#listeners.get(video) ?? []) listener(null);
    this.#streams.clear();
  }
}
