import * as v from 'valibot';
import { listOf } from '../../shared/core/text.ts';
import { strictBody, success } from '../schemas.ts';

const maxCollections = 20;
const maxRooms = 20;

const collections = listOf(
  v.string('must be a text'),
  maxCollections,
  `may name up to ${maxCollections} collections`,
  'must be a list of names of collections',
);

const text = v.string('must be a text');
const room = strictBody({ of: strictBody({ collection: text, id: text }) });
const rooms = listOf(room, maxRooms, `may name up to ${maxRooms} rooms`, 'must be a list of rooms');

export const TicketBody = v.pipe(
  strictBody({ collections: v.optional(collections), rooms: v.optional(rooms) }),
  v.forward(
    v.check(
      ({ collections: names = [], rooms: wanted = [] }) => names.length + wanted.length > 0,
      'must name at least one collection, unless there are rooms',
    ),
    ['collections'],
  ),
);

/** Empty if live updates are not deployed; clients then poll the changes feed. */
export const TicketAnswer = success(
  v.object({
    url: v.pipe(
      v.nullable(v.string()),
      v.metadata({ description: 'Where to connect, by the protocol of AppSync Events.' }),
    ),
    ticket: v.nullable(v.string()),
    expiresIn: v.pipe(
      v.number(),
      v.metadata({ description: 'Seconds after which to get another ticket. With rooms, their channels change then.' }),
    ),
    channels: v.record(v.string(), v.string()),
    rooms: v.pipe(
      v.optional(v.array(v.object({ of: v.object({ collection: v.string(), id: v.string() }), channel: v.string() }))),
      v.metadata({ description: 'If the request has rooms: the channel of each.' }),
    ),
  }),
);
