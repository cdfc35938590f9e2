import type { IndexDescription } from 'mongodb';
import { AppError } from '../../core/errors.ts';
import { cutText } from '../../core/text.ts';
import { type IndexKeys, isHiddenPath, keysBuilt, type StoredRowSecurity } from '../collection.ts';
import { unsafeNames } from '../names.ts';
import { managedPrefix, noLanguageField } from './indexes.ts';

type IndexKind = IndexKeys[number][1];

/** An index that a developer created; `ready` after the database has built it. */
export interface CustomIndex {
  readonly name: string;
  /** Pairs instead of an object, because paths contain dots. */
  readonly keys: IndexKeys;
  readonly ready: boolean;
  readonly since: Date;
}

/** Without `name`, MongoDB's default name is used. */
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

const ownerFirstName = (name: string): string => `${managedPrefix}owner_first_${name}`;

/** Both names that an index can have, before and after a change of row security. */
export const namesOf = (name: string): readonly string[] => [name, ownerFirstName(name)];

/**
 * Renames the index if its keys differ from the requested ones. `language_override`: otherwise a document's field
 * `language` would change how its text is indexed.
 */
export const toIndexDescription = (
  { name, keys }: Pick<CustomIndex, 'name' | 'keys'>,
  { rls }: { readonly rls: StoredRowSecurity },
): IndexDescription => {
  const built = keysBuilt(keys, rls);
  return {
    name: built === keys ? name : ownerFirstName(name),
    key: new Map(built),
    ...(keys.some(([, kind]) => kind === 'text') && { language_override: noLanguageField }),
  };
};
