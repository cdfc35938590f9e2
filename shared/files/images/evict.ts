import { projectScope, sortPrefix } from '../../persistence/item-keys.ts';
import { list, transact, write } from '../../persistence/table.ts';
import * as kinds from '../../persistence/table-keys.ts';
import { managedBucket } from '../bucket.ts';
import { putDueEntry } from '../due-uploads.ts';
import { type FileRef, fileItemKey, type KeptSizes } from '../file-items.ts';
import { claim, release } from '../move-file.ts';
import { managedStorageId } from '../storage-keys.ts';
import { cachedEntry, removeVariants, type Variant } from './budget.ts';
import { isBeingPut } from './entries.ts';
import { chargeSize, type NewSize, sizeKeys } from './store.ts';

/** The most that one request evicts: each takes four commands. */
const mostEvicted = 20;

const rounds = 3;

/** Takes a size that the caller's file has out of the cache, after its bytes. */
const drop = async (ref: FileRef, variant: Variant, mover: string): Promise<boolean> => {
  const names = new Set([variant.name]);
  const entry = cachedEntry(variant);
  // Before the bytes go, so that the sweep looks after whoever dies here.
  await write(putDueEntry(ref, 'sized', { sizes: names }));
  await managedBucket.remove(sizeKeys(ref.filePath, names));
  const refusal = await transact([
    {
      update: fileItemKey(ref),
      change: 'DELETE sizes :names, cached :cached REMOVE mover, movingUntil',
      condition: 'mover = :mover AND contains(cached, :entry)',
      values: { names, cached: new Set([entry]), mover, entry },
    },
    ...removeVariants(ref, [variant]),
  ]);
  return refusal === undefined;
};

const has = ({ cached = new Set() }: KeptSizes, variant: Variant): boolean => cached.has(cachedEntry(variant));

/** False if somebody else has the file, or a size of it is being put. */
const evict = async ({ filePath, ...variant }: Variant & { readonly filePath: string }, projectId: string) => {
  const ref = { projectId, storageId: managedStorageId, filePath };
  const { done, mover, kept } = await claim(ref);
  if (!done) return false;
  let isDropped = false;
  try {
    isDropped = !isBeingPut(kept) && has(kept, variant) && (await drop(ref, variant, mover));
  } finally {
    if (!isDropped) await release(ref, mover);
  }
  return isDropped;
};

type VariantItem = Variant & { readonly filePath: string };

/** Evicts the oldest sizes of a project until so many bytes are free; false if none could be evicted. */
const evictOldest = async (projectId: string, bytes: number): Promise<boolean> => {
  const oldest = await list<VariantItem>({
    partition: projectScope(projectId),
    only: { prefix: sortPrefix(kinds.variant) },
    most: mostEvicted,
  });
  let freed = 0;
  for (const { filePath, name, time, bytes: size } of oldest) {
    if (freed >= bytes) break;
    if (await evict({ filePath, name, time, bytes: size }, projectId)) freed += size;
  }
  return freed > 0;
};

/**
 * Charges a size to the budget of its project, in which the oldest make room; `undefined` if it is not to be kept, or
 * 60 evictions were too few.
 */
export const chargeWithRoom = async (ref: FileRef, size: NewSize, budget: number): Promise<Variant | undefined> => {
  for (let left = rounds; ; left--) {
    const charged = await chargeSize(ref, size, budget);
    if (!charged || !('missing' in charged)) return charged;
    if (left === 0 || !(await evictOldest(ref.projectId, charged.missing))) return undefined;
  }
};
