import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { parseSecrets, sign } from '../../../shared/mail/event-signature.ts';

/** Waits before the tries after the first, as long as the receiver does not take a delivery. */
const retryMs = [500, 1000, 2000, 4000, 8000];

/** Where events go, and how they are signed. */
export interface WebhookTarget {
  readonly url: string;
  /** The setting of the receiver; its first secret signs. None that can be used: nothing is sent. */
  readonly secrets: string;
}

/** Delivers events, signed as the provider signs them: each until it is taken, six times at most, under one id. */
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
