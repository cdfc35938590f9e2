import * as v from 'valibot';
import { isPlainObject } from '../../shared/core/json.ts';
import { listOf } from '../../shared/core/text.ts';
import { strictBody, success } from '../schemas.ts';

const maxCollections = 20;
const maxRooms = 20;

/** A collection, or one partition of it. */
type Subscribed = string | { readonly collection: string; readonly partition: string };

const isSubscribed = (value: unknown): boolean => {
  if (typeof value === 'string') return true;
  if (!isPlainObject(value) || Object.keys(value).length !== 2) return false;
  return typeof value.collection === 'string' && typeof value.partition === 'string';
};

const collections = listOf(
  v.pipe(
    v.unknown(),
    v.check(isSubscribed, 'must be a String, or an Object with the Strings collection and partition'),
    v.transform((value) => value as Subscribed),
    v.metadata({ description: 'A name, or an object with "collection" and "partition" if it is partitioned.' }),
  ),
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
    partitions: v.pipe(
      v.optional(v.array(v.object({ collection: v.string(), partition: v.string(), channel: v.string() }))),
      v.metadata({ description: 'If the request has partitions: the channel of each.' }),
    ),
    rooms: v.pipe(
      v.optional(v.array(v.object({ of: v.object({ collection: v.string(), id: v.string() }), channel: v.string() }))),
      v.metadata({ description: 'If the request has rooms: the channel of each.' }),
    ),
  }),
);
