import { createECDH, createHmac, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import {
  CloudFrontClient,
  CreatePublicKeyCommand,
  DeletePublicKeyCommand,
  GetKeyGroupCommand,
  GetPublicKeyConfigCommand,
  ListPublicKeysCommand,
  UpdateKeyGroupCommand,
} from '@aws-sdk/client-cloudfront';
import { ShortCache } from '../core/cache.ts';
import { clock, dayAt, dayMs } from '../core/clock.ts';
import { keyGroupSettings, linkSettings } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { log } from '../core/log.ts';
import { itemKey, type Key, partitionKey, sortPrefix } from '../persistence/item-keys.ts';
import { list, write } from '../persistence/table.ts';
import * as kinds from '../persistence/table-keys.ts';
import { derivedKey } from '../projects/sealed.ts';

/** `id`: the id of its public half at CloudFront. */
export interface LinkKey {
  readonly id: string;
  readonly privateKey: KeyObject;
}

/** Order of P-256; private keys are 1 to order - 1. */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** P-256 key of a period, derived from the master key, so it is stored nowhere. */
export const linkKeyOf = async (period: string): Promise<KeyObject> => {
  // Twice the length of the order, so that all keys are equally likely.
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

/** In CloudFront's format. */
export const publicPem = (privateKey: KeyObject): string =>
  createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();

/** `id` at CloudFront; `from`: when it starts signing, in ms since 1970. */
type LinkKeyItem = Key & { readonly id: string; readonly from: number };

const servicePartition = partitionKey('service');

/** Newest first. */
export const knownLinkKeys = async (): Promise<readonly (LinkKeyItem & { readonly period: string })[]> => {
  const prefix = sortPrefix(kinds.linkKey);
  const items = await list<LinkKeyItem>({ partition: servicePartition, only: { prefix }, newestFirst: true });
  return items.map((item) => ({ ...item, period: item.sk.slice(prefix.length) }));
};

/** How long a process uses the key that it has read. */
const knownForMs = 5 * 60_000;

const cached = new ShortCache<LinkKey>(knownForMs, 1);

const fromTable = async (): Promise<LinkKey> => {
  const found = (await knownLinkKeys()).find(({ from }) => from <= clock.now());
  if (!found) throw new AppError('SERVICE_UNAVAILABLE', 'Links cannot be signed yet. Retry.');
  return { id: found.id, privateKey: await linkKeyOf(found.period) };
};

export const currentLinkKey = (): Promise<LinkKey> => {
  const { LINK_KEY_ID: id } = linkSettings();
  return cached.get('current', async () => (id ? { id, privateKey: await linkKeyOf(id) } : fromTable()));
};

/** CloudFront is global. */
const client = new CloudFrontClient({ region: 'us-east-1', maxAttempts: 3 });

const hasName = (error: unknown, ...names: readonly string[]): boolean => names.includes((error as Error).name);

/** Name → id of the public keys with this prefix. An account may have ten. */
const publicKeys = async (prefix: string): Promise<ReadonlyMap<string, string>> => {
  const { PublicKeyList } = await client.send(new ListPublicKeysCommand({ MaxItems: 100 }));
  const found = (PublicKeyList?.Items ?? []).flatMap(({ Name = '', Id = '' }) =>
    Name.startsWith(prefix) ? [[Name, Id] as const] : [],
  );
  return new Map(found);
};

/** Adds the key unless CloudFront has it. Returns its id. */
const addPublicKey = async (name: string, pem: string): Promise<string> => {
  try {
    const config = { CallerReference: name, Name: name, EncodedKey: pem };
    const { PublicKey } = await client.send(new CreatePublicKeyCommand({ PublicKeyConfig: config }));
    return PublicKey?.Id ?? '';
  } catch (error) {
    const known = hasName(error, 'PublicKeyAlreadyExists') ? (await publicKeys(name)).get(name) : undefined;
    if (known === undefined) throw error;
    return known;
  }
};

/** False if another run is changing the group. */
const setGroupKeys = async (groupId: string, ids: readonly string[]): Promise<boolean> => {
  const { KeyGroup, ETag } = await client.send(new GetKeyGroupCommand({ Id: groupId }));
  const { Name, Comment, Items = [] } = KeyGroup?.KeyGroupConfig ?? {};
  if (Items.length === ids.length && ids.every((id) => Items.includes(id))) return true;
  try {
    const config = { Name, Comment, Items: [...ids] };
    await client.send(new UpdateKeyGroupCommand({ Id: groupId, IfMatch: ETag, KeyGroupConfig: config }));
    return true;
  } catch (error) {
    if (hasName(error, 'PreconditionFailed')) return false;
    throw error;
  }
};

/** Ignores keys that do not exist. */
const removePublicKey = async (id: string, name: string): Promise<void> => {
  const known = (await publicKeys(name)).get(name);
  if (known !== id) return;
  const { ETag } = await client.send(new GetPublicKeyConfigCommand({ Id: id }));
  await client.send(new DeletePublicKeyCommand({ Id: id, IfMatch: ETag }));
};

const signsMs = 30 * dayMs;

/** Links last up to a week; one more day for clocks and requests in progress. */
const validAfterMs = 8 * dayMs;

/** By then CloudFront and every process know a new key. */
const spreadMs = 3 * knownForMs;

type Known = Awaited<ReturnType<typeof knownLinkKeys>>[number];

const openBy = (keys: readonly Known[], now: number): readonly Known[] =>
  keys.filter((_, at) => {
    const successor = keys[at - 1];
    return successor === undefined || successor.from + validAfterMs > now;
  });

/** Publishes the key of a new period before it signs anything; false if another run is doing it. */
const addKey = async (group: string, name: (period: string) => string, kept: readonly string[]): Promise<boolean> => {
  const now = clock.now();
  const { name: period } = dayAt(now);
  const id = await addPublicKey(name(period), publicPem(await linkKeyOf(period)));
  if (!(await setGroupKeys(group, [id, ...kept]))) return false;
  const from = kept.length > 0 ? now + spreadMs : now;
  const item = { ...itemKey(kinds.linkKey, partitionKey('service'), { period }), id, from };
  await write({ put: item, condition: 'attribute_not_exists(pk)' });
  log.info({ job: 'rotate-link-keys', added: period });
  return true;
};

/** Removes keys that no link needs any more, and those of crashed runs. */
const removeOthers = async (name: (period: string) => string, kept: readonly Known[]): Promise<void> => {
  const needed = new Set([name(dayAt(clock.now()).name), ...kept.map(({ period }) => name(period))]);
  for (const [known, id] of await publicKeys(name(''))) if (!needed.has(known)) await removePublicKey(id, known);
};

/**
 * Replaces the signing key of links after 30 days; the previous one stays valid for 8 days. Can be repeated,
 * interrupted and run concurrently: keys are derived from the day, the group is changed by one conditional call, and
 * the table is written last.
 */
export const rotateLinkKeys = async (): Promise<void> => {
  const { LINK_KEY_GROUP: group, LINK_KEY_PREFIX: prefix } = keyGroupSettings();
  if (!group) return;
  const name = (period: string): string => `${prefix}-links-${period}`;
  const now = clock.now();
  const keys = await knownLinkKeys();
  const kept = openBy(keys, now);
  const [newest] = keys;
  const isOld = !newest || newest.from + signsMs <= now;
  if (!isOld && kept.length === keys.length) return;
  const ids = kept.map(({ id }) => id);
  const done = isOld ? await addKey(group, name, ids) : await setGroupKeys(group, ids);
  if (!done) return;
  for (const { pk, sk } of keys.filter((key) => !kept.includes(key))) await write({ delete: { pk, sk } });
  await removeOthers(name, kept);
};
