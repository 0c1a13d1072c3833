/** In-process publish/subscribe: subscribers run inline on the publisher's thread, in order of subscription. */
export class Topic<T> {
  readonly #subscribers: ((value: T) => void)[] = [];

  subscribe(subscriber: (value: T) => void): void {
    this.#subscribers.push(subscriber);
  }

  /** Hot path. */
  publish(value: T): void {
    for (let i = 0; i < this.#subscribers.length; i++) this.#subscribers[i]!(value);
  }
}
