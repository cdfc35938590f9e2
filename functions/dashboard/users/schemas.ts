import * as v from 'valibot';
import { maxAddressLength } from '../../../shared/core/schemas.ts';
import { accountFields, Session } from '../../account-fields.ts';
import { JsonObject, success } from '../../schemas.ts';
import { userWith } from '../../user-auth/schemas.ts';
import { PageQuery, pageOf } from '../schemas.ts';

const { email, newPassword } = accountFields;

/**
 * Names that no field can have; valibot leaves them out of a loose object, where they would be dropped instead of
 * refused.
 */
const withoutReservedNames = v.rawCheck<Record<string, unknown>>(({ dataset, addIssue }) => {
  if (!dataset.typed) return;
  const input = dataset.value;
  for (const key of ['constructor', 'prototype'].filter((name) => Object.hasOwn(input, name))) {
    const path = [{ type: 'object', origin: 'key', input, key, value: input[key] }] as const;
    addIssue({ message: 'is not a known field', path: [...path] });
  }
});

/** Fields of the project's own `users` schema come besides; any other is refused where the schema is known. */
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

/** A page of the end users whose address begins so, in any case. */
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
});

/** The end user record of contract 6. */
const User = userWith({ disabled: v.boolean() });

export const UserAnswer = success(User);
export const UserPage = pageOf(User);
export const SessionPage = pageOf(v.omit(Session, ['current']));
