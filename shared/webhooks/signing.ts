import { randomBytes } from 'node:crypto';
import { clock } from '../core/clock.ts';
import type { WebhookRecord } from '../events/webhook-record.ts';
import { sign } from '../mail/events/signature.ts';
import { open, seal } from '../projects/sealed.ts';

const prefix = 'whsec_';
const secretBytes = 24;
const doubleMs = 24 * 3600_000;

/** A new secret as its owner gets it: `whsec_` and 24 random bytes in base64. */
export const newSecret = (): string => prefix + randomBytes(secretBytes).toString('base64');

const boundTo = (id: string): string => `${id}/webhook`;

/** The secret as it is kept; `id` is the webhook's. */
export const sealSecret = (secret: string, id: string): Promise<string> => seal(secret, boundTo(id));

/** Until when a secret that is replaced now still signs. */
export const signsUntil = (): Date => new Date(clock.now() + doubleMs);

/** The secrets that sign now: the webhook's own, and for a day the one before it. */
export const signingSecrets = async ({ _id, sealedSecret, earlier }: WebhookRecord): Promise<readonly string[]> => {
  const id = boundTo(_id.toHexString());
  const isLeft = earlier && earlier.until.getTime() > clock.now();
  return Promise.all([sealedSecret, ...(isLeft ? [earlier.sealedSecret] : [])].map((sealed) => open(sealed, id)));
};

/** The headers of a delivery by the Standard Webhooks specification, with a signature of each secret. */
export const signedWebhookHeaders = (
  secrets: readonly string[],
  id: string,
  body: string,
  seconds = Math.floor(Date.now() / 1000),
): Readonly<Record<string, string>> => {
  const time = String(seconds);
  const signatures = secrets.map((secret) => sign(Buffer.from(secret.slice(prefix.length), 'base64'), id, time, body));
  return { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures.join(' ') };
};
