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
const knownForMs = 5 * 60_000;

const cached = new ShortCache<LinkKey>(knownForMs, 1);

const fromTable = async (): Promise<LinkKey> => {
  const found = (await knownLinkKeys()).find(({ from }) => from <= clock.now());
  if (!found) throw new AppError('SERVICE_UNAVAILABLE', 'Links cannot be signed yet. Try again.');
  return { id: found.id, privateKey: await linkKeyOf(found.period) };
};

/** The key that signs now. */
export const currentLinkKey = (): Promise<LinkKey> => {
  const { LINK_KEY_ID: id } = linkSettings();
  return cached.get('current', async () => (id ? { id, privateKey: await linkKeyOf(id) } : fromTable()));
};

/** CloudFront has one address for all regions. */
const client = new CloudFrontClient({ region: 'us-east-1', maxAttempts: 3 });

const isCalled = (error: unknown, ...names: readonly string[]): boolean => names.includes((error as Error).name);

/** The ids of the public keys whose names begin with `prefix`, by those names. An account may have ten in all. */
const publicKeys = async (prefix: string): Promise<ReadonlyMap<string, string>> => {
  const { PublicKeyList } = await client.send(new ListPublicKeysCommand({ MaxItems: 100 }));
  const found = (PublicKeyList?.Items ?? []).flatMap(({ Name = '', Id = '' }) =>
    Name.startsWith(prefix) ? [[Name, Id] as const] : [],
  );
  return new Map(found);
};

/** Makes CloudFront know a key, or finds that it does already; returns its id. */
const addPublicKey = async (name: string, pem: string): Promise<string> => {
  try {
    const config = { CallerReference: name, Name: name, EncodedKey: pem };
    const { PublicKey } = await client.send(new CreatePublicKeyCommand({ PublicKeyConfig: config }));
    return PublicKey?.Id ?? '';
  } catch (error) {
    const known = isCalled(error, 'PublicKeyAlreadyExists') ? (await publicKeys(name)).get(name) : undefined;
    if (known === undefined) throw error;
    return known;
  }
};

/** Lets a key group have exactly these keys; false where somebody else is changing it. */
const setGroupKeys = async (groupId: string, ids: readonly string[]): Promise<boolean> => {
  const { KeyGroup, ETag } = await client.send(new GetKeyGroupCommand({ Id: groupId }));
  const { Name, Comment, Items = [] } = KeyGroup?.KeyGroupConfig ?? {};
  if (Items.length === ids.length && ids.every((id) => Items.includes(id))) return true;
  try {
    const config = { Name, Comment, Items: [...ids] };
    await client.send(new UpdateKeyGroupCommand({ Id: groupId, IfMatch: ETag, KeyGroupConfig: config }));
    return true;
  } catch (error) {
    if (isCalled(error, 'PreconditionFailed')) return false;
    throw error;
  }
};

/** Removes a key that is in no group any more; also one that is gone. */
const removePublicKey = async (id: string, name: string): Promise<void> => {
  const known = (await publicKeys(name)).get(name);
  if (known !== id) return;
  const { ETag } = await client.send(new GetPublicKeyConfigCommand({ Id: id }));
  await client.send(new DeletePublicKeyCommand({ Id: id, IfMatch: ETag }));
};

/** How long a key signs. */
const signsMs = 30 * dayMs;

/** A link lives up to a week; a day more for clocks and what is on its way. */
const outlivesMs = 8 * dayMs;

/** Until then CloudFront has a new key everywhere, and every process knows of it. */
const spreadMs = 3 * knownForMs;

type Known = Awaited<ReturnType<typeof knownLinkKeys>>[number];

/** Those of some keys, the newest first, by which a link may still open. */
const openBy = (keys: readonly Known[], now: number): readonly Known[] =>
  keys.filter((_, at) => {
    const successor = keys[at - 1];
    return successor === undefined || successor.from + outlivesMs > now;
  });

/**
 * Makes CloudFront know the key of a new period before anything is signed with it; false where another run is at it.
 */
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

/** Has CloudFront forget the keys that no link needs any more, and those of runs that died. */
const removeOthers = async (name: (period: string) => string, kept: readonly Known[]): Promise<void> => {
  const needed = new Set([name(dayAt(clock.now()).name), ...kept.map(({ period }) => name(period))]);
  for (const [known, id] of await publicKeys(name(''))) if (!needed.has(known)) await removePublicKey(id, known);
};

/**
 * Replaces the key that signs links to files once it has signed for 30 days; the one before opens links for 8 days
 * more. May be repeated, run twice at once, and cut short anywhere: keys are made of the master key and the day,
 * CloudFront's group is changed by one conditional call, and what is in the table last is what signs.
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
