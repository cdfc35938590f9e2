import { setTimeout as pause } from 'node:timers/promises';
import { clock } from '../../core/clock.ts';
import type { Update } from '../../persistence/dynamo.ts';
import { itemKey, type Key, projectScope } from '../../persistence/item-keys.ts';
import { get, type Write } from '../../persistence/table.ts';
import * as kinds from '../../persistence/table-keys.ts';
import { type FileItem, type FileRef, type FileVariants, fileItemKey, pathTail } from '../file-items.ts';

/** Time to write a charged variant; until then its file is neither moved nor deleted. */
export const writeMs = 8000;

const pauseMs = 50;

/** `until` in ms since 1970. */
export const writingEntry = (name: string, until: number): string => `${name}@${until}`;

export const isBeingWritten = ({ putting = new Set() }: FileVariants): boolean =>
  [...putting].some((entry) => Number(entry.split('@')[1]) > clock.now());

/** Variants that may have bytes: stored ones and interrupted writes. */
export const variantNames = ({ sizes = new Set(), putting = new Set() }: FileVariants): ReadonlySet<string> =>
  new Set([...sizes, ...[...putting].map((entry) => entry.split('@')[0] ?? '')]);

/** Condition that the file exists and its variants are as they were read. */
export const unchangedVariants = ({ sizes, cached, sizeBytes, putting }: FileVariants) => {
  const known = Object.entries({ sizes, cached, sizeBytes, putting });
  const are = known.map(([name, value]) =>
    value === undefined ? `attribute_not_exists(${name})` : `${name} = :${name}`,
  );
  const values = Object.fromEntries(known.filter(([, value]) => value !== undefined));
  return {
    condition: ['attribute_exists(pk)', ...are].join(' AND '),
    // DynamoDB rejects empty values.
    ...(Object.keys(values).length > 0 && { values }),
  };
};

/** `undefined` if the file is deleted, `busy` if writes go on for too long. */
export const waitForWrites = async <T extends FileVariants>(
  ref: FileRef,
  file: T,
): Promise<T | FileItem | 'busy' | undefined> => {
  const end = clock.now() + 2 * writeMs;
  let known: T | FileItem | undefined = file;
  while (known && isBeingWritten(known)) {
    if (clock.now() > end) return 'busy';
    await pause(pauseMs);
    known = await get<FileItem>(fileItemKey(ref));
  }
  return known;
};

// Variants are a cache with its own budget: any visitor causes them, so they never take room from uploads.

/** `time` in ms since 1970 tells two writes of one variant apart. */
export interface Variant {
  readonly name: string;
  readonly time: number;
  readonly bytes: number;
}

export const cachedEntry = ({ name, time, bytes }: Variant): string => `${name}@${time}@${bytes}`;

export const cachedOf = ({ cached = new Set() }: FileVariants): readonly Variant[] =>
  [...cached].map((entry) => {
    const [name = '', time, bytes] = entry.split('@');
    return { name, time: Number(time), bytes: Number(bytes) };
  });

/** Padded, because sort keys are compared as text. */
const timeOrder = (time: number): string => String(time).padStart(15, '0');

const variantKey = (ref: FileRef, { name, time }: Variant): Key =>
  itemKey(kinds.variant, projectScope(ref.projectId), { time: timeOrder(time), path: pathTail(ref), name });

const budgetKey = (projectId: string): Key => itemKey(kinds.variantQuota, projectScope(projectId));

export type BudgetItem = Key & { readonly held?: number };

const count = (projectId: string, bytes: number): Update => ({
  update: budgetKey(projectId),
  change: 'ADD held :bytes',
  values: { bytes },
});

/** `budget` in bytes. */
export const cacheVariant = (ref: FileRef, variant: Variant, budget: number): readonly [Update, Write] => [
  {
    ...count(ref.projectId, variant.bytes),
    condition: 'attribute_not_exists(held) OR held <= :room',
    values: { bytes: variant.bytes, room: budget - variant.bytes },
  },
  { put: { ...variantKey(ref, variant), ...variant, filePath: ref.filePath } },
];

export const uncacheVariants = (ref: FileRef, variants: readonly Variant[]): readonly Write[] => {
  const bytes = variants.reduce((sum, one) => sum + one.bytes, 0);
  if (variants.length === 0) return [];
  return [count(ref.projectId, -bytes), ...variants.map((one) => ({ delete: variantKey(ref, one) }))];
};

/** Bytes of a project's stored variants. */
export const variantUsage = async (projectId: string): Promise<number> =>
  (await get<BudgetItem>(budgetKey(projectId)))?.held ?? 0;
