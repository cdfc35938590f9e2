import type { Collection } from '../../collections/collection.ts';
import { noRowSecurity } from '../../collections/collection.ts';
import type { FieldError } from '../../core/errors.ts';
import type { JsonObject } from '../../documents/document.ts';
import { sanitizeInsert } from '../../documents/write/sanitize.ts';
import { convertFields, validationFailed } from '../../documents/write/schema-values.ts';
import { planUpdate, type UpdatePlan } from '../../documents/write/update-plan.ts';
import { profileFields } from './user-record.ts';

const only = (users: Collection, body: JsonObject, nameOf: (key: string) => string): JsonObject => {
  const own = new Set(profileFields(users).map(({ key }) => key));
  return Object.fromEntries(Object.entries(body).filter(([key]) => own.has(nameOf(key))));
};

/**
 * The profile that a new user brings along, in its stored form: the fields of the schema, defaults filled in; all
 * others are dropped (contract 3, "Sign-up"). What the schema does not accept → 400 `VALIDATION_FAILED`.
 */
export const newProfile = (users: Collection, body: JsonObject): JsonObject => {
  const sent = sanitizeInsert(only(users, body, (key) => key));
  const errors: FieldError[] = [];
  const profile = convertFields(profileFields(users), sent, '', errors);
  if (errors.length > 0) throw validationFailed(errors);
  return profile;
};

/**
 * What a body changes of a user's profile, dotted paths included; all but the fields of the schema is dropped. Nothing
 * left → 400 `NOTHING_TO_UPDATE`; other refusals as `planUpdate` has them.
 */
export const planProfile = (users: Collection, body: JsonObject): UpdatePlan =>
  planUpdate(
    { name: users.name, schema: profileFields(users), rls: noRowSecurity },
    only(users, body, (key) => key.split('.', 1)[0] ?? ''),
  );
