import * as v from 'valibot';
import { Document, totals } from '../../data/schemas.ts';
import { success } from '../../schemas.ts';

const Trashed = v.intersect([Document, v.looseObject({ daysLeft: v.nullable(v.number()) })]);

/** The trash of contract 6: a page of a dashboard list, with `totalCapped` where lists of documents have it. */
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
