import { createHmac, timingSafeEqual } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { absenceMs, forgetWhenSaved, ShortCache } from '../core/cache.ts';
import { webhookSettings } from '../core/config.ts';
import { settingText } from '../persistence/secrets.ts';
import { projectRecords } from '../projects/project.ts';
import { open } from '../projects/sealed.ts';
import { webhookSecretId } from '../projects/settings.ts';

/** The three signature headers and the raw body. */
export interface SignedDelivery {
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
  readonly body: Buffer;
}

/** Accepted clock difference between sender and us. */
const toleranceSeconds = 300;

const prefix = 'whsec_';
const maxIdLength = 256;

const parseSecret = (text: string): Buffer | undefined => {
  if (!text.startsWith(prefix)) return undefined;
  const encoded = text.slice(prefix.length).replace(/=+$/, '');
  const bytes = Buffer.from(encoded, 'base64');
  const exact = bytes.toString('base64').replace(/=+$/, '') === encoded;
  return exact && bytes.length > 0 ? bytes : undefined;
};

/** Parses `whsec_<base64>` secrets, separated by commas or spaces. Invalid ones are ignored. */
export const parseSecrets = (setting: string): readonly Buffer[] =>
  setting.split(/[\s,]+/).flatMap((text) => parseSecret(text) ?? []);

/** Signatures of a header `v1,<base64> v1,<base64> …`; other versions are ignored. */
const signaturesIn = (header: string): string[] =>
  [...header.matchAll(/(?:^|[\s,])v1,([A-Za-z0-9+/]{43}=)(?=$|[\s,])/g)].map(([, signature = '']) => signature);

const isTimely = (timestamp: string, nowSeconds: number): boolean =>
  /^\d{1,12}$/.test(timestamp) && Math.abs(nowSeconds - Number(timestamp)) <= toleranceSeconds;

/** HMAC-SHA256 over id, time and body, as Standard Webhooks defines it. */
export const sign = (secret: Buffer, id: string, timestamp: string, body: string | Buffer): string =>
  `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;

/** True if all headers are there and the timestamp is current. */
export const isSignable = ({ id, timestamp, signature }: Omit<SignedDelivery, 'body'>, nowSeconds: number): boolean =>
  Boolean(id && id.length <= maxIdLength && timestamp && isTimely(timestamp, nowSeconds)) &&
  signature !== undefined &&
  signaturesIn(signature).length > 0;

/** True if one of the secrets signed exactly these bytes within 5 minutes of `nowSeconds`. Constant time. */
export const isSigned = (delivery: SignedDelivery, secrets: readonly Buffer[], nowSeconds: number): boolean => {
  if (!isSignable(delivery, nowSeconds)) return false;
  const { id = '', timestamp = '', signature = '', body } = delivery;
  const given = signaturesIn(signature).map((text) => Buffer.from(`v1,${text}`));
  const expected = secrets.map((secret) => Buffer.from(sign(secret, id, timestamp, body)));
  let matches = 0;
  for (const own of expected) for (const other of given) matches += Number(timingSafeEqual(own, other));
  return matches > 0;
};

/** Running functions use a new secret after this time. */
const secretAgeMs = 60_000;

/** Secrets of the shared account; empty if the setting is missing or invalid. */
export const sharedSecrets = async (): Promise<readonly Buffer[]> => {
  const { MAIL_WEBHOOK_SECRET, MAIL_WEBHOOK_SECRET_ARN } = webhookSettings();
  return parseSecrets(await settingText(MAIL_WEBHOOK_SECRET, MAIL_WEBHOOK_SECRET_ARN, secretAgeMs));
};

/** Settings must take effect within 5 s. */
const cache = new ShortCache<readonly Buffer[]>(5000, 2000, {
  isMiss: (secrets) => secrets.length === 0,
  size: 500,
  ttlMs: absenceMs,
});

forgetWhenSaved((projectId) => cache.forget((key) => key === projectId));

const read = async (projectId: string): Promise<readonly Buffer[]> => {
  const record = await projectRecords.findOne(
    { _id: ObjectId.createFromHexString(projectId), state: 'active' },
    { projection: { sealedProviderWebhookSecret: 1 } },
  );
  const sealed = record?.sealedProviderWebhookSecret;
  return sealed ? parseSecrets(await open(sealed, webhookSecretId(projectId))) : [];
};

/** Secrets of the project's own account; empty if it has none or does not exist. */
export const projectSecrets = async (projectId: string): Promise<readonly Buffer[]> =>
  /^[0-9a-f]{24}$/.test(projectId) ? cache.get(projectId, () => read(projectId)) : [];
