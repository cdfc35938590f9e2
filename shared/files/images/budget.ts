import type { Update } from '../../persistence/dynamo.ts';
import { itemKey, type Key, projectScope } from '../../persistence/item-keys.ts';
import { get, type Write } from '../../persistence/table.ts';
import * as kinds from '../../persistence/table-keys.ts';
import { type FileRef, type KeptSizes, tailOf } from '../file-items.ts';

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

export const variantKey = (ref: FileRef, { name, time }: Variant): Key =>
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
