import { type IndexKeys, isPrivate, type RowSecurity } from '../collection.ts';
import { managedPrefix } from './indexes.ts';

/** What the indexes of a collection follow from. */
export type Ownership = Omit<RowSecurity, 'trash'>;

/**
 * The keys that an index of the developer's own is built with. In a private collection it begins with the owner, so
 * that no plan that serves one owner looks at documents of another; one that names the owner at a later place is meant
 * for the secret key and stays. A text index cannot: MongoDB would then search the documents of one owner only.
 */
export const keysBuilt = (keys: IndexKeys, rls: Ownership): IndexKeys => {
  const isGeo = keys.some(([, kind]) => kind === '2dsphere');
  const stays = keys.some(([path, kind]) => kind === 'text' || (path === rls.ownerField && !isGeo));
  if (!isPrivate(rls) || stays) return keys;
  return [[rls.ownerField, 1], ...keys.filter(([path]) => path !== rls.ownerField)];
};

/** The name of the index with the owner before its keys; the developer's own name stands for it as it was asked for. */
const ownerFirstName = (name: string): string => `${managedPrefix}owner_first_${name}`;

/** The name that an index of the developer's own is built under: another one where its keys are others. */
export const nameBuilt = (name: string, keys: IndexKeys, rls: Ownership): string =>
  keysBuilt(keys, rls) === keys ? name : ownerFirstName(name);

/** Both names that an index may have been built under, while row security was as it is now or as it was before. */
export const namesOf = (name: string): readonly string[] => [name, ownerFirstName(name)];
