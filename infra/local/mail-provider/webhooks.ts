import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { parseSecrets, sign } from '../../../shared/mail/event-signature.ts';

/** The pauses before the retries of a failed delivery. */
const retryMs = [500, 1000, 2000, 4000, 8000];

export interface WebhookTarget {
  readonly url: string;
  /** The receiver's setting. Its first secret signs; without a valid one, nothing is sent. */
  readonly secrets: string;
}

/** Delivers signed events like the provider: each at most six times, until the receiver accepts it. */
export class Webhooks {
  readonly #url: string;
  readonly #secret: Buffer | undefined;

  constructor({ url, secrets }: WebhookTarget) {
    this.#url = url;
    this.#secret = parseSecrets(secrets)[0];
  }

  async send(type: string, data: object): Promise<void> {
    if (!this.#secret) return;
    const body = Buffer.from(JSON.stringify({ type, created_at: new Date().toISOString(), data }));
    const id = `msg_${randomUUID()}`;
    for (const wait of [0, ...retryMs]) {
      await pause(wait, undefined, { ref: false });
      if (await this.#deliver(this.#secret, id, body)) return;
    }
  }

  async #deliver(secret: Buffer, id: string, body: Buffer): Promise<boolean> {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const headers = {
      'content-type': 'application/json',
      'svix-id': id,
      'svix-timestamp': timestamp,
      'svix-signature': sign(secret, id, timestamp, body),
    };
    try {
      const signal = AbortSignal.timeout(10_000);
      const response = await fetch(this.#url, { method: 'POST', headers, body, signal });
      await response.arrayBuffer();
      return response.ok;
    } catch {
      return false;
    }
  }
}
