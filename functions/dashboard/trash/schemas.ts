import * as v from 'valibot';
import { Document, totals } from '../../data/schemas.ts';
import { success } from '../../schemas.ts';

const Trashed = v.intersect([Document, v.looseObject({ daysLeft: v.nullable(v.number()) })]);

/** With `totalCapped` like lists of documents. */
export const TrashPage = success(
  v.object({
    items: v.array(Trashed),
    ...totals,
    page: v.number(),
    limit: v.number(),
  }),
);

export const EmptiedAnswer = success(v.object({ removed: v.number(), complete: v.boolean() }));
export const RestoredAnswer = success(Document);
export const DeletedAnswer = success(v.object({ id: v.string() }));
