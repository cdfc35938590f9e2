import * as v from 'valibot';
import { listOf } from '../../shared/core/text.ts';
import { strictBody, success } from '../schemas.ts';

const maxCollections = 20;

export const TicketBody = strictBody({
  collections: v.pipe(
    listOf(
      v.string('must be a text'),
      maxCollections,
      `may name up to ${maxCollections} collections`,
      'must be a list of names of collections',
    ),
    v.minLength(1, 'must name at least one collection'),
  ),
});

/** Empty if live updates are not deployed; clients then poll the changes feed. */
export const TicketAnswer = success(
  v.object({
    url: v.pipe(
      v.nullable(v.string()),
      v.metadata({ description: 'Where to connect, by the protocol of AppSync Events.' }),
    ),
    ticket: v.nullable(v.string()),
    expiresIn: v.pipe(v.number(), v.metadata({ description: 'Seconds for which the ticket opens connections.' })),
    channels: v.record(v.string(), v.string()),
  }),
);
