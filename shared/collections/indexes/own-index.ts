import type { IndexDescription } from 'mongodb';
import { AppError } from '../../core/errors.ts';
import type { IndexKeys } from '../collection.ts';
import { managedPrefix } from './indexes.ts';
import { keysBuilt, nameBuilt, type Ownership } from './owner-first.ts';

/** Kind of one key of an index. */
export type IndexKind = IndexKeys[number][1];

/** An index of the developer's own as its collection's record keeps it; `ready` once the database has built it. */
export interface OwnIndex {
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
const unsafe: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype', '_bsontype']);
const wellFormedName = /^[A-Za-z0-9_.-]{1,100}$/;

const invalid = (message: string): AppError => new AppError('INVALID_INDEX', message);

const isPath = (path: string): boolean =>
  path.length <= 200 &&
  path.split('.').every((part) => part !== '' && !part.startsWith('$') && !part.includes('\0') && !unsafe.has(part));

/** The name and keys of a new index, checked; without a name it gets MongoDB's usual one. Else 400 `INVALID_INDEX`. */
export const parseNewIndex = ({ name, keys }: NewIndex): Pick<OwnIndex, 'name' | 'keys'> => {
  const pairs = Object.entries(keys);
  if (pairs.length === 0) throw invalid('keys must name at least one field.');
  if (pairs.length > maxKeys) throw invalid(`keys may name at most ${maxKeys} fields.`);
  for (const [path] of pairs) {
    if (!isPath(path)) throw invalid(`keys: "${path.slice(0, 80)}" is not a field or a dotted path to one.`);
  }
  if (pairs.length === 1 && pairs[0]?.[0] === '_id') throw invalid('_id is indexed already.');
  const wanted = name ?? pairs.map(([path, kind]) => `${path}_${kind}`).join('_');
  if (name !== undefined && (!wellFormedName.test(name) || name === '_id_')) {
    throw invalid('name may have at most 100 letters, digits, _, . and -.');
  }
  if (wanted.startsWith(managedPrefix)) {
    throw invalid(`Index names that begin with ${managedPrefix} are the service's own.`);
  }
  return { name: wanted, keys: pairs };
};

/**
 * The index as MongoDB builds it. Without the other override a field `language` of any document would change its text.
 */
export const toIndexDescription = (
  { name, keys }: Pick<OwnIndex, 'name' | 'keys'>,
  { rls }: { readonly rls: Ownership },
): IndexDescription => ({
  name: nameBuilt(name, keys, rls),
  key: new Map(keysBuilt(keys, rls)),
  ...(keys.some(([, kind]) => kind === 'text') ? { language_override: 'basaltTextLanguage' } : {}),
});
