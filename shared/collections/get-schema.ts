import { AppError } from '../core/errors.ts';
import type { Collection, Field, RowSecurity } from './collection.ts';
import { collectionNotFound } from './control-collections.ts';

/** What `GET /api/schemas/:collection` shows of a collection; `model` is empty for a schema-free one. */
export interface CollectionView {
  readonly name: string;
  readonly model: Field[];
  readonly rls: RowSecurity;
}

/** The schema of a collection for any key; `users` only for the secret one (contract 2, "Schema read"). */
export const getSchema = (
  name: string,
  collection: Collection | undefined,
  keyKind: 'publishable' | 'secret',
): CollectionView => {
  if (name.toLowerCase() === 'users' && keyKind !== 'secret') {
    throw new AppError('SECRET_KEY_REQUIRED', 'The schema of users is only shown to the secret key.');
  }
  if (!collection) throw collectionNotFound(name);
  return { name: collection.name, model: [...(collection.schema ?? [])], rls: collection.rls };
};
