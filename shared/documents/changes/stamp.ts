import { type Document as MongoDocument, Timestamp } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import type { Counting } from '../revision.ts';

type Fed = Pick<Collection, 'feed'>;

/** MongoDB puts its own clock in the place of it where a document is inserted: unique, and rising. */
const now = new Timestamp({ t: 0, i: 0 });

/** What an insert writes for the changes feed, where the collection has one. */
export const insertedAt = ({ feed }: Fed): { readonly _pos?: Timestamp } => (feed?.on ? { _pos: now } : {});

/** The operators of an update with what it writes for the changes feed: the same clock, by the same command. */
export const stamped = ({ feed }: Fed, { where, operators }: Counting): Counting =>
  feed?.on ? { where, operators: { ...operators, ...movedNow } } : { where, operators };

/** Gives each document that is updated a position of its own. */
export const movedNow: MongoDocument = { $currentDate: { _pos: { $type: 'timestamp' } } };
