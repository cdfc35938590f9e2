import * as v from 'valibot';
import { isMailbox, noMailbox } from '../../../shared/core/schemas.ts';
import { parseDate } from '../../../shared/core/values.ts';
import { maxSubjectLength, oneLine } from '../../../shared/mail/check-mail.ts';
import { strictBody } from '../../schemas.ts';

const text = v.string('must be a String');

const subject = v.pipe(
  text,
  v.trim(),
  v.nonEmpty('is required'),
  v.maxLength(maxSubjectLength, `must have at most ${maxSubjectLength} characters`),
  v.regex(oneLine, 'must not contain control characters'),
);

const scheduledAt = v.pipe(
  text,
  v.check((value) => parseDate(value) !== undefined, 'must be an ISO 8601 date-time such as 2030-01-31T09:00:00Z'),
  v.transform((value) => parseDate(value)?.toISOString() ?? value),
);

export const NewBroadcastBody = strictBody({
  audienceId: v.pipe(text, v.nonEmpty('is required')),
  subject,
  html: v.pipe(
    text,
    v.check((html) => html.trim() !== '', 'is required'),
  ),
  scheduledAt: v.optional(scheduledAt),
  from: v.optional(v.pipe(text, v.trim(), v.check(isMailbox, noMailbox))),
});
