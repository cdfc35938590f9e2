import type { IndexDescription } from 'mongodb';
import { type CollectionRecord, toCollection } from '../collection-record.ts';
import { managedIndexes } from './indexes.ts';
import { toIndexDescription } from './own-index.ts';
import { namesOf } from './owner-first.ts';

/** Every index that a collection should have: the service's own, and those of the developer's that are built. */
export const wantedIndexes = (record: CollectionRecord): readonly IndexDescription[] => {
  const own = record.indexes?.filter(({ ready }) => ready) ?? [];
  return [...managedIndexes(toCollection(record)), ...own.map((index) => toIndexDescription(index, record))];
};

/** Names under which the developer's own indexes may still be built from before row security was switched. */
export const formerNames = (record: CollectionRecord): readonly string[] => {
  const wanted = new Set(wantedIndexes(record).map(({ name }) => name));
  const ready = record.indexes?.filter((index) => index.ready) ?? [];
  return ready.flatMap(({ name }) => namesOf(name)).filter((name) => !wanted.has(name));
};
