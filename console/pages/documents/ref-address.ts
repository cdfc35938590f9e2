import { usersCollection } from '../../../shared/collections/names.ts';
import { cutText } from '../../../shared/core/text.ts';
import { isId } from '../../ui/places.ts';

const texts = (document: object): readonly string[] =>
  Object.entries(document).flatMap(([key, value]) =>
    key !== '_id' && typeof value === 'string' && value ? [value] : [],
  );

/** Users have no documents in the dashboard, but a page of their own. */
export const isUsers = (collectionName: string): boolean => collectionName === usersCollection;

/** The id in a reference: the id itself, or that of the populated document. */
export const idIn = (value: unknown): string | undefined => {
  const id = typeof value === 'object' && value !== null ? (value as { readonly _id?: unknown })._id : value;
  return typeof id === 'string' && isId(id) ? id : undefined;
};

const longestName = 80;

/** The name of a document in one line: its first text, otherwise its id. */
export const nameOf = (document: object): string =>
  cutText(texts(document)[0] ?? String((document as { readonly _id?: unknown })._id), longestName);

/** The address of a referenced document, in the view of `viewer` if one is given. */
export const refAddress = (projectId: string, collectionName: string, id: string, viewer?: string): string =>
  `/projects/${projectId}/${isUsers(collectionName) ? 'users' : `documents/${encodeURIComponent(collectionName)}`}?open=${id}${viewer === undefined ? '' : `&as=${viewer}`}`;
