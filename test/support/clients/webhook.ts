import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { parseSecrets, sign } from '../../../shared/mail/event-signature.ts';
import { type Answer, call } from './client.ts';

/** What can be different about a delivery, from what the provider would send now. */
export interface DeliveryOptions {
  readonly id?: string;
  /** Seconds since 1970. */
  readonly timestamp?: number;
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How the names of the signature's headers begin; `svix` unless said otherwise. */
  readonly prefix?: 'svix' | 'webhook';
  /** Sent instead of the bytes that were signed. */
  readonly sent?: string | Uint8Array;
  /** Another door than the public API's: the function's own URL. */
  readonly base?: string;
  readonly path?: string;
}

/** An event as the provider words it; `minutes` from now is when it happened. */
export const eventOf = (type: string, data: object, minutes = 0) => ({
  type,
  created_at: new Date(Date.now() + minutes * 60_000).toISOString(),
  data,
});

/** The headers with which the provider signs these bytes. */
export const signedHeaders = (body: Buffer, options: DeliveryOptions = {}): Record<string, string> => {
  const { id = `msg_${randomUUID()}`, timestamp = Math.floor(Date.now() / 1000), prefix = 'svix' } = options;
  const [secret = Buffer.alloc(0)] = parseSecrets(options.secret ?? inject('stack').env.MAIL_WEBHOOK_SECRET ?? '');
  return {
    [`${prefix}-id`]: id,
    [`${prefix}-timestamp`]: String(timestamp),
    [`${prefix}-signature`]: sign(secret, id, String(timestamp), body),
    ...options.headers,
  };
};

/** Delivers an event as the provider does; a string or bytes are signed as they are. */
export const deliver = (event: unknown, options: DeliveryOptions = {}): Promise<Answer> => {
  const body = Buffer.from(
    typeof event === 'string' || event instanceof Uint8Array ? (event as string) : JSON.stringify(event),
  );
  return call(options.base ?? inject('stack').baseUrl, 'POST', options.path ?? '/api/mail/webhook', {
    headers: signedHeaders(body, options),
    body: options.sent ?? body,
  });
};
