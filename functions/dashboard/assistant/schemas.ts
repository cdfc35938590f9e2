import * as v from 'valibot';
import { maxPromptLength } from '../../../shared/usage/assistant.ts';
import { FieldAnswer, UniqueListAnswer } from '../../collection-schemas.ts';
import { strictBody, success } from '../../schemas.ts';

export const ProposalBody = strictBody({
  prompt: v.pipe(
    v.string('must be a String'),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(maxPromptLength, `must have at most ${maxPromptLength} characters`),
  ),
});

/** The body that creates the collection. */
export const ProposalAnswer = success(
  v.object({
    name: v.optional(v.string()),
    schema: v.array(FieldAnswer),
    changes: v.optional(v.boolean()),
    closed: v.optional(v.boolean()),
    unique: v.optional(v.array(UniqueListAnswer)),
  }),
);
