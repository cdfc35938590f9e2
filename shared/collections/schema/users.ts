import type { Collection, Field } from '../collection.ts';
import { schemaError } from '../names.ts';
import { boundsIn } from './field-bounds.ts';
import { isUnknownPath } from './field-path.ts';
import { searchableFields } from './field-types.ts';

/** Only the service writes these and never shows them; no schema may declare them. */
export const hiddenUserFields: ReadonlySet<string> = new Set([
  'isDisabled',
  'hasPassword',
  'identities',
  'planSlot',
  'credentialVersion',
  '_signIn',
]);

/** Only the service writes it; the user sees it. */
export const emailVerifiedField = 'emailVerified';

/** Names that user views add to the schema's fields. */
const shownFields: ReadonlyMap<string, string> = new Map([
  ['disabled', 'is what the dashboard calls a user who may not sign in'],
  ['isAnonymous', 'is what tells an anonymous user from others'],
]);

const requireString = (fields: readonly Field[], key: string): void => {
  const field = fields.find((candidate) => candidate.key === key);
  if (field?.type !== 'String' || !field.required) {
    throw schemaError(key, 'must be a required String: the users collection needs email and password');
  }
};

/** A schema may declare `emailVerified` as a Boolean, so that imported schemas work; it stays read-only. */
const refuseServiceFields = (fields: readonly Field[]): void => {
  for (const { key, type, unique } of fields) {
    if (hiddenUserFields.has(key)) throw schemaError(key, 'is written by the service');
    const meaning = shownFields.get(key);
    if (meaning !== undefined) throw schemaError(key, `${meaning}; choose another name`);
    if (key === emailVerifiedField && (type !== 'Boolean' || unique)) {
      throw schemaError(key, 'is written by the service and must be a Boolean that is not unique');
    }
  }
};

/** Requires the `String` fields `email` and `password`; `email` becomes unique. Throws 400 `INVALID_SCHEMA`. */
export const toUsersSchema = (schema: readonly Field[] | null): readonly Field[] => {
  if (schema === null) throw schemaError('', 'The users collection needs a schema with email and password');
  requireString(schema, 'email');
  requireString(schema, 'password');
  refuseServiceFields(schema);
  const written = schema.find(({ key, write }) => write !== undefined && [...secret, emailVerifiedField].includes(key));
  if (written) throw schemaError(written.key, 'has write, but only routes of its own change it');
  if (schema.some(({ key, unique }) => key === 'password' && unique)) {
    throw schemaError('password', 'is unique, which a password may not be');
  }
  for (const field of schema.filter(({ key }) => key === 'email' || key === 'password')) {
    const [bound] = boundsIn(field).filter(
      (name) => !(name === 'format' && field.key === 'email' && field.format === 'email'),
    );
    if (bound) throw schemaError(field.key, `has ${bound}, but the service itself checks email and password`);
  }
  const [searchable] = searchableFields({ schema });
  if (searchable) throw schemaError(searchable.key, 'is searchable, but users cannot be listed or searched');
  return schema.map((field) => (field.key === 'email' ? { ...field, unique: true } : field));
};

/** Fields that rules may use in addition to the schema's. */
const ofEveryUser: ReadonlySet<string> = new Set(['_id', 'email', emailVerifiedField, 'isAnonymous']);

/** Why a rule may not use a field of the caller's user; `undefined` if it may. */
export const ruleUserField = (users: Collection | undefined, path: string): string | undefined => {
  const [root = ''] = path.split('.', 1);
  if (ofEveryUser.has(path)) return undefined;
  if (root === 'password' || root.startsWith('_')) return 'cannot be named by a rule.';
  if (!users?.schema || isUnknownPath(users.schema, path)) return 'names a field that "users" does not have.';
  if (isServerGiven(users, path)) return undefined;
  return `names the field "${root}" of users, which users can set themselves. Give it "write": "server" in the schema of users.`;
};

const fieldsOnTheWay = ({ schema }: Collection, path: string): readonly Field[] => {
  const segments = path.split('.');
  const found: Field[] = [];
  let fields = schema ?? [];
  for (const segment of segments) {
    const field = fields.find(({ key }) => key === segment);
    if (!field) break;
    found.push(field);
    fields = field.fields ?? [];
  }
  return found;
};

/** True if the schema restricts who sets the field, and not to each user for themselves. */
const isServerGiven = (users: Collection, path: string): boolean =>
  fieldsOnTheWay(users, path).some(({ write }) => write !== undefined && write !== 'create');

/** True if rules may read a field of `users` through a Ref: it must be public and not settable by users. */
export const ruleRefField = (users: Collection, path: string): boolean => {
  const [root = ''] = path.split('.', 1);
  if (always.includes(root)) return true;
  const isPublic = fieldsOnTheWay(users, path).every(({ read }) => read === undefined || read === true);
  return !secret.has(root) && isPublic && isServerGiven(users, path);
};

const secret: ReadonlySet<string> = new Set(['email', 'password']);
const always = ['_id', 'createdAt', 'updatedAt'];

const publicFields = (users: Collection): readonly string[] => [
  ...always,
  ...(users.schema ?? []).map(({ key }) => key).filter((key) => !secret.has(key) && !always.includes(key)),
];

export const publicProfileProjection = (users: Collection): Readonly<Record<string, 1>> =>
  Object.fromEntries(publicFields(users).map((field) => [field, 1]));

/** Returns `_id`, dates and the schema's public fields, without `email` and `password`. */
export const publicProfile = <T extends object>(users: Collection, user: T): Partial<T> => {
  const shown = new Set(publicFields(users));
  return Object.fromEntries(Object.entries(user).filter(([key]) => shown.has(key))) as Partial<T>;
};
