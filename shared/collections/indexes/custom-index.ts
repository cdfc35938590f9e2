import type { IndexDescription } from 'mongodb';
import { AppError } from '../../core/errors.ts';
import { cutText } from '../../core/text.ts';
import { type IndexKeys, isHiddenPath, isPrivate, type RowSecurity } from '../collection.ts';
import { unsafeNames } from '../names.ts';
import { managedPrefix, noLanguageField } from './indexes.ts';

type IndexKind = IndexKeys[number][1];

/** An index of the developer's own as its collection's record keeps it; `ready` once the database has built it. */
export interface CustomIndex {
  readonly name: string;
  /** As asked for; pairs, since a path may hold dots, which no field name of a record should. */
  readonly keys: IndexKeys;
  readonly ready: boolean;
  readonly since: Date;
}

/** An index as sent; without a name it gets the one MongoDB would choose. */
export interface NewIndex {
  readonly name?: string | undefined;
  readonly keys: Readonly<Record<string, IndexKind>>;
}

const maxKeys = 16;
const wellFormedName = /^[A-Za-z0-9_.-]{1,100}$/;

const invalid = (message: string): AppError => new AppError('INVALID_INDEX', message);

const isPath = (path: string): boolean =>
  path.length <= 200 &&
  !isHiddenPath(path) &&
  path
    .split('.')
    .every((part) => part !== '' && !part.startsWith('$') && !part.includes('\0') && !unsafeNames.has(part));

/** The name and keys of a new index, checked; without a name it gets MongoDB's usual one. Else 400 `INVALID_INDEX`. */
export const parseNewIndex = ({ name, keys }: NewIndex): Pick<CustomIndex, 'name' | 'keys'> => {
  const pairs = Object.entries(keys);
  if (pairs.length === 0) throw invalid('keys must name at least one field.');
  if (pairs.length > maxKeys) throw invalid(`keys may name at most ${maxKeys} fields.`);
  for (const [path] of pairs) {
    if (!isPath(path)) throw invalid(`keys: "${cutText(path, 80)}" is not a field or a dotted path to one.`);
  }
  if (pairs.length === 1 && pairs[0]?.[0] === '_id') throw invalid('_id is indexed already.');
  const wanted = name ?? pairs.map(([path, kind]) => `${path}_${kind}`).join('_');
  if (name !== undefined && (!wellFormedName.test(name) || name === '_id_')) {
    throw invalid('name must be 1 to 100 letters, digits, _, . and -, other than _id_.');
  }
  if (wanted.startsWith(managedPrefix)) {
    throw invalid(`Index names that begin with ${managedPrefix} are the service's own.`);
  }
  return { name: wanted, keys: pairs };
};

/** What the indexes of a collection follow from. */
type Ownership = Omit<RowSecurity, 'trash' | 'requires'>;

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

/** Both names that an index may have been built under, while row security was as it is now or as it was before. */
export const namesOf = (name: string): readonly string[] => [name, ownerFirstName(name)];

/**
 * The index as MongoDB builds it, under another name where its keys are others than were asked for. Without the other
 * override a field `language` of any document would change its text.
 */
export const toIndexDescription = (
  { name, keys }: Pick<CustomIndex, 'name' | 'keys'>,
  { rls }: { readonly rls: Ownership },
): IndexDescription => {
  const built = keysBuilt(keys, rls);
  return {
    name: built === keys ? name : ownerFirstName(name),
    key: new Map(built),
    ...(keys.some(([, kind]) => kind === 'text') && { language_override: noLanguageField }),
  };
};
