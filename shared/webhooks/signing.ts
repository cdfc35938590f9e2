import { randomBytes } from 'node:crypto';
import type { Document } from 'mongodb';
import { clock, dayMs, nowSeconds } from '../core/clock.ts';
import type { WebhookRecord } from '../events/webhook-record.ts';
import { sign } from '../mail/events/signature.ts';
import { open, seal } from '../projects/sealed.ts';

const prefix = 'whsec_';
const secretBytes = 24;
const doubleMs = dayMs;

/** A new secret as its owner gets it: `whsec_` and 24 random bytes in base64. */
export const newSecret = (): string => prefix + randomBytes(secretBytes).toString('base64');

const boundTo = (id: string): string => `${id}/webhook`;

/** The secret as it is kept; `id` is the webhook's. */
export const sealSecret = (secret: string, id: string): Promise<string> => seal(secret, boundTo(id));

/** Replaced secrets that may sign at the same time; of more the oldest stop before their time. */
const mostReplaced = 4;

/** What becomes of `replaced` with the secret; computed by the database, so that parallel rotations lose none. */
export const withReplaced = (): Document => {
  const now = new Date(clock.now());
  const own = { sealedSecret: '$sealedSecret', until: new Date(now.getTime() + doubleMs) };
  const left = { $filter: { input: { $ifNull: ['$replaced', []] }, cond: { $gt: ['$$this.until', now] } } };
  return { $slice: [{ $concatArrays: [[own], left] }, mostReplaced] };
};

/** The secrets that sign now: the webhook's own, and those that it replaced within a day. */
export const signingSecrets = async (webhook: WebhookRecord): Promise<readonly string[]> => {
  const id = boundTo(webhook._id.toHexString());
  const left = (webhook.replaced ?? []).filter(({ until }) => until.getTime() > clock.now());
  return Promise.all([webhook, ...left].map(({ sealedSecret }) => open(sealedSecret, id)));
};

/** The headers of a delivery by the Standard Webhooks specification, with a signature of each secret. */
export const signedWebhookHeaders = (
  secrets: readonly string[],
  id: string,
  body: string,
): Readonly<Record<string, string>> => {
  const time = String(nowSeconds());
  const signatures = secrets.map((secret) => sign(Buffer.from(secret.slice(prefix.length), 'base64'), id, time, body));
  return { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures.join(' ') };
};
