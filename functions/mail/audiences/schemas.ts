import * as v from 'valibot';
import { accountFields } from '../../account-fields.ts';
import { strictBody, success } from '../../schemas.ts';

const text = v.string('must be a String');
const tooLong = 'must have at most 200 characters';

const name = v.pipe(text, v.trim(), v.nonEmpty('must not be empty'), v.maxLength(200, tooLong));
const nullableName = v.nullable(v.pipe(v.string('must be a String or null'), v.trim(), v.maxLength(200, tooLong)));
const email = accountFields.recipient;
const listLimit = 'must be a whole number from 1 to 100';
const id = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,100}$/, 'must be an id'));

const optionalFields = {
  firstName: v.optional(nullableName),
  lastName: v.optional(nullableName),
  unsubscribed: v.optional(v.boolean('must be a Boolean')),
};

/** Pages of the provider's lists: after or before an id. */
export const PartQuery = v.strictObject({
  limit: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,3}$/, listLimit),
      v.transform(Number),
      v.minValue(1, listLimit),
      v.maxValue(100, listLimit),
    ),
  ),
  after: v.optional(id),
  before: v.optional(id),
});

export const NewAudienceBody = strictBody({ name });
export const NewContactBody = strictBody({ email, ...optionalFields });
export const ContactChangesBody = v.pipe(
  strictBody({ email: v.optional(email), ...optionalFields }),
  v.check((changes) => Object.keys(changes).length > 0, 'Name at least one field to change.'),
);

/** Passed through. */
export const ProviderAnswer = success(
  v.pipe(
    v.unknown(),
    v.metadata({ description: "The response of the project's own account at the mail provider, unchanged." }),
  ),
);
