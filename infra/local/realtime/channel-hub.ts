/** Who hears a channel: one subscription of a connection. */
export interface Listener {
  readonly hear: (event: string) => void;
}

/** Which subscriptions each channel has. */
export class ChannelHub {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Returns how to end it. */
  add(channel: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(channel) === listeners) this.#listeners.delete(channel);
    };
  }

  publish(channel: string, events: readonly string[]): void {
    for (const listener of this.#listeners.get(channel) ?? []) for (const event of events) listener.hear(event);
  }
}
