/** One subscription of a connection. */
export interface Listener {
  readonly onEvent: (event: string) => void;
}

/** The subscriptions of each channel. */
export class ChannelHub {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Returns the function that ends the subscription. */
  add(channel: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(channel) === listeners) this.#listeners.delete(channel);
    };
  }

  publish(channel: string, events: readonly string[]): void {
    for (const listener of this.#listeners.get(channel) ?? []) for (const event of events) listener.onEvent(event);
  }
}
