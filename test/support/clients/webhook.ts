import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { parseSecrets, sign } from '../../../shared/mail/event-signature.ts';
import { type Answer, call } from './client.ts';

/** Deviations from a correct delivery. */
export interface DeliveryOptions {
  readonly id?: string;
  /** Seconds since 1970. */
  readonly timestamp?: number;
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Prefix of the signature headers; default `svix`. */
  readonly prefix?: 'svix' | 'webhook';
  /** Sent instead of the signed bytes. */
  readonly sent?: string | Uint8Array;
  /** The function's own URL instead of the public API. */
  readonly base?: string;
  readonly path?: string;
}

/** A provider event that happened `minutes` from now. */
export const eventOf = (type: string, data: object, minutes = 0) => ({
  type,
  created_at: new Date(Date.now() + minutes * 60_000).toISOString(),
  data,
});

/** The provider's signature headers. */
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

/** Delivers an event like the provider; strings and bytes are signed unchanged. */
export const deliver = (event: unknown, options: DeliveryOptions = {}): Promise<Answer> => {
  const body = Buffer.from(
    typeof event === 'string' || event instanceof Uint8Array ? (event as string) : JSON.stringify(event),
  );
  return call(options.base ?? inject('stack').baseUrl, 'POST', options.path ?? '/api/mail/webhook', {
    headers: signedHeaders(body, options),
    body: options.sent ?? body,
  });
};
