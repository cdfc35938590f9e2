import { addPublicKey, publicKeys, removePublicKey, setGroupKeys } from '../../clients/key-group.ts';
import { clock, dayMs } from '../../core/clock.ts';
import { keyGroupSettings } from '../../core/config.ts';
import { log } from '../../core/log.ts';
import { write } from '../../table/item.ts';
import { itemKey, partitionKey } from '../../table/item-key.ts';
import * as kinds from '../../table/keys.ts';
import { dayAt } from '../../table/windows.ts';
import { knownForMs, knownLinkKeys, linkKeyOf, publicPem } from './link-key.ts';

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
