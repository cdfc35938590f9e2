import type { Collection } from '../collection.ts';

const secret: ReadonlySet<string> = new Set(['email', 'password']);
const always = ['_id', 'createdAt', 'updatedAt'];

const publicFields = (users: Collection): readonly string[] => [
  ...always,
  ...(users.schema ?? []).map(({ key }) => key).filter((key) => !secret.has(key) && !always.includes(key)),
];

/** The projection that fetches no more of a user than anybody may see. */
export const publicProfileProjection = (users: Collection): Readonly<Record<string, 1>> =>
  Object.fromEntries(publicFields(users).map((field) => [field, 1]));

/**
 * What anybody may see of a user: `_id`, the dates of creation and update and the fields of the `users` schema, without
 * `email` and `password`. Whatever else the document holds stays inside (specification, "Reserved users collection").
 */
export const publicProfile = <T extends object>(users: Collection, user: T): Partial<T> => {
  const shown = new Set(publicFields(users));
  return Object.fromEntries(Object.entries(user).filter(([key]) => shown.has(key))) as Partial<T>;
};
