import * as v from 'valibot';
import { maxAddressLength } from '../../../shared/core/schemas.ts';
import { accountFields, Session } from '../../account-fields.ts';
import { JsonObject, success } from '../../schemas.ts';
import { userWith } from '../../user-auth/schemas.ts';
import { PageQuery, pageOf } from '../schemas.ts';

const { email, newPassword } = accountFields;

/** valibot silently drops these names from a loose object; they must be rejected. */
const withoutReservedNames = v.rawCheck<Record<string, unknown>>(({ dataset, addIssue }) => {
  if (!dataset.typed) return;
  const input = dataset.value;
  for (const key of ['constructor', 'prototype'].filter((name) => Object.hasOwn(input, name))) {
    const path = [{ type: 'object', origin: 'key', input, key, value: input[key] }] as const;
    addIssue({ message: 'is not a known field', path: [...path] });
  }
});

/** Other fields are checked against the `users` schema later. */
export const NewUserBody = v.pipe(JsonObject, withoutReservedNames, v.looseObject({ email, password: newPassword }));
export const UserChangesBody = v.pipe(
  JsonObject,
  withoutReservedNames,
  v.looseObject({
    email: v.optional(email),
    password: v.optional(newPassword),
    disabled: v.optional(v.boolean('must be a Boolean')),
  }),
);

/** The maximum number of ids in one request. A page shows as many users. */
const maxIds = 100;
const idsMessage = `must be at most ${maxIds} user ids, separated by commas`;
const idsPattern = new RegExp(`^[0-9a-f]{24}(,[0-9a-f]{24}){0,${maxIds - 1}}$`, 'i');

/** Users whose address begins with `email`, in any case, or with one of the `ids`. */
export const UsersQuery = v.strictObject({
  ...PageQuery.entries,
  email: v.optional(
    v.pipe(
      v.string(),
      v.trim(),
      v.toLowerCase(),
      v.minLength(1, 'must be the beginning of an address'),
      v.maxLength(maxAddressLength, `must have at most ${maxAddressLength} characters`),
    ),
  ),
  ids: v.optional(
    v.pipe(
      v.string(),
      v.regex(idsPattern, idsMessage),
      v.transform((ids) => ids.split(',')),
    ),
  ),
});

const User = userWith({ disabled: v.boolean() });

export const UserAnswer = success(User);
export const UserPage = pageOf(User);
export const SessionPage = pageOf(v.omit(Session, ['current']));
