import type { Collection, Field } from '../../collections/collection.ts';
import { usersCollection } from '../../collections/schema/collection-name.ts';
import { emailVerifiedField } from '../../collections/schema/users-rules.ts';
import { fieldsOf } from '../collection-fields.ts';

/** The fields that readers see, the implied owner among them, and of `users` no password. */
export const shownFields = (collection: Collection): readonly Field[] =>
  collection.name === usersCollection
    ? fieldsOf(collection).filter(({ key }) => key !== 'password' && key !== emailVerifiedField)
    : fieldsOf(collection);

/** What a read answers: anonymous users, and those of some identity providers, have no address. */
export const answeredFields = (collection: Collection): readonly Field[] =>
  shownFields(collection).map((field) =>
    collection.name === usersCollection && field.key === 'email' ? { ...field, required: false } : field,
  );

/** What an insert says: the owner is filled in for who writes with a token, so it may be left out. */
export const insertedFields = (collection: Collection): readonly Field[] =>
  shownFields(collection).map((field) =>
    collection.rls.enabled && field.key === collection.rls.ownerField ? { ...field, required: false } : field,
  );
