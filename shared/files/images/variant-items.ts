import { setTimeout as pause } from 'node:timers/promises';
import { clock } from '../../core/clock.ts';
import type { Update } from '../../persistence/dynamo.ts';
import { itemKey, type Key, projectScope } from '../../persistence/item-keys.ts';
import { get, type Write } from '../../persistence/table.ts';
import * as kinds from '../../persistence/table-keys.ts';
import { type FileItem, type FileRef, fileItemKey, type KeptSizes, tailOf } from '../file-items.ts';

/** Who has charged a size has this long to put it; until then its file is neither moved nor deleted. */
export const puttingMs = 8000;

const pauseMs = 50;

/** What `putting` has of somebody who may put a size until a time, in ms since 1970. */
export const puttingEntry = (name: string, until: number): string => `${name}@${until}`;

/** Whether somebody may yet put a size of a file. */
export const isBeingPut = ({ putting = new Set() }: KeptSizes): boolean =>
  [...putting].some((entry) => Number(entry.split('@')[1]) > clock.now());

/** All of which there may be bytes: those that are kept, and those of whoever failed or died on the way. */
export const namesOf = ({ sizes = new Set(), putting = new Set() }: KeptSizes): ReadonlySet<string> =>
  new Set([...sizes, ...[...putting].map((entry) => entry.split('@')[0] ?? '')]);

/** For a write: that there is a file whose sizes are what they were when it was read. */
export const asRead = ({ sizes, cached, sizeBytes, putting }: KeptSizes) => {
  const known = Object.entries({ sizes, cached, sizeBytes, putting });
  const are = known.map(([name, value]) =>
    value === undefined ? `attribute_not_exists(${name})` : `${name} = :${name}`,
  );
  const values = Object.fromEntries(known.filter(([, value]) => value !== undefined));
  return {
    condition: ['attribute_exists(pk)', ...are].join(' AND '),
    // DynamoDB refuses an empty list of values.
    ...(Object.keys(values).length > 0 && { values }),
  };
};

/**
 * A file as it is once nobody puts a size of it any more: `file` itself where nobody does; `undefined` where it is
 * gone, `busy` where others go on for longer than anybody alone may.
 */
export const whenPut = async <T extends KeptSizes>(
  ref: FileRef,
  file: T,
): Promise<T | FileItem | 'busy' | undefined> => {
  const end = clock.now() + 2 * puttingMs;
  let known: T | FileItem | undefined = file;
  while (known && isBeingPut(known)) {
    if (clock.now() > end) return 'busy';
    await pause(pauseMs);
    known = await get<FileItem>(fileItemKey(ref));
  }
  return known;
};

// Sizes of pictures are a cache with a budget of its own: strangers cause them, so they never take room from uploads.

/** A size in the cache; `time` in ms since 1970 tells one making of it from another. */
export interface Variant {
  readonly name: string;
  readonly time: number;
  readonly bytes: number;
}

/** What `cached` of a file has of a size. */
export const cachedEntry = ({ name, time, bytes }: Variant): string => `${name}@${time}@${bytes}`;

/** The sizes of a file that the cache has. */
export const cachedOf = ({ cached = new Set() }: KeptSizes): readonly Variant[] =>
  [...cached].map((entry) => {
    const [name = '', time, bytes] = entry.split('@');
    return { name, time: Number(time), bytes: Number(bytes) };
  });

/** Times in sort keys: as many digits for all of them. */
const timeOrder = (time: number): string => String(time).padStart(15, '0');

const variantKey = (ref: FileRef, { name, time }: Variant): Key =>
  itemKey(kinds.variant, projectScope(ref.projectId), { time: timeOrder(time), path: tailOf(ref), name });

const budgetKey = (projectId: string): Key => itemKey(kinds.variantQuota, projectScope(projectId));

export type BudgetItem = Key & { readonly held?: number };

const count = (projectId: string, bytes: number): Update => ({
  update: budgetKey(projectId),
  change: 'ADD held :bytes',
  values: { bytes },
});

/** Adds a size to the cache, if the budget of the project (bytes) has room for it. */
export const addVariant = (ref: FileRef, variant: Variant, budget: number): readonly [Update, Write] => [
  {
    ...count(ref.projectId, variant.bytes),
    condition: 'attribute_not_exists(held) OR held <= :room',
    values: { bytes: variant.bytes, room: budget - variant.bytes },
  },
  { put: { ...variantKey(ref, variant), ...variant, filePath: ref.filePath } },
];

/** Takes sizes of a file out of the cache. */
export const removeVariants = (ref: FileRef, variants: readonly Variant[]): readonly Write[] => {
  const bytes = variants.reduce((sum, one) => sum + one.bytes, 0);
  if (variants.length === 0) return [];
  return [count(ref.projectId, -bytes), ...variants.map((one) => ({ delete: variantKey(ref, one) }))];
};

/** Bytes of the sizes that are kept for a project. */
export const variantUsage = async (projectId: string): Promise<number> =>
  (await get<BudgetItem>(budgetKey(projectId)))?.held ?? 0;
