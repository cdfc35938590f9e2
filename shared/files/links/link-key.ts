import { createECDH, createHmac, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { clock } from '../../core/clock.ts';
import { linkSettings } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import { ShortCache } from '../../core/short-cache.ts';
import { derivedKey } from '../../projects/sealed.ts';
import { list } from '../../table/item.ts';
import { type Key, partitionKey, sortPrefix } from '../../table/item-key.ts';
import * as kinds from '../../table/keys.ts';

/** A key that links are signed with; `id` is what whoever serves the files knows its public half by. */
export interface LinkKey {
  readonly id: string;
  readonly privateKey: KeyObject;
}

/** The order of P-256, whose private keys are the numbers from 1 to below it. */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** The P-256 key of a period, made of the master key, so that nobody has to keep it. */
export const linkKeyOf = async (period: string): Promise<KeyObject> => {
  // Twice the length of the order, so that no private key is likelier than another.
  const digest = createHmac('sha512', await derivedKey('file links'))
    .update(period)
    .digest('hex');
  const number = (BigInt(`0x${digest}`) % (order - 1n)) + 1n;
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(number.toString(16).padStart(64, '0'), 'hex');
  const point = pair.getPublicKey();
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')];
  const d = Buffer.from(number.toString(16).padStart(64, '0'), 'hex').toString('base64url');
  return createPrivateKey({ key: { kty: 'EC', crv: 'P-256', x, y, d }, format: 'jwk' });
};

/** The public half, as CloudFront takes it. */
export const publicPem = (privateKey: KeyObject): string =>
  createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();

/** What the table knows of a period's key: its id at CloudFront, and from when it signs (ms since 1970). */
type LinkKeyItem = Key & { readonly id: string; readonly from: number };

const servicePartition = partitionKey('service');

/** The keys that CloudFront has, the newest first. */
export const knownLinkKeys = async (): Promise<readonly (LinkKeyItem & { readonly period: string })[]> => {
  const prefix = sortPrefix(kinds.linkKey);
  const items = await list<LinkKeyItem>({ partition: servicePartition, only: { prefix }, newestFirst: true });
  return items.map((item) => ({ ...item, period: item.sk.slice(prefix.length) }));
};

/** How long a process signs with what it has read. */
export const knownForMs = 5 * 60_000;

const cached = new ShortCache<LinkKey>(knownForMs, 1);

const fromTable = async (): Promise<LinkKey> => {
  const found = (await knownLinkKeys()).find(({ from }) => from <= clock.now());
  if (!found) throw new AppError('SERVICE_UNAVAILABLE', 'Links cannot be signed yet. Please try again.');
  return { id: found.id, privateKey: await linkKeyOf(found.period) };
};

/** The key that signs now. */
export const currentLinkKey = (): Promise<LinkKey> => {
  const { LINK_KEY_ID: id } = linkSettings();
  return cached.get('current', async () => (id ? { id, privateKey: await linkKeyOf(id) } : fromTable()));
};
