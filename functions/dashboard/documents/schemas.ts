import * as v from 'valibot';
import { Document, GetQuery, ListQuery } from '../../data/schemas.ts';
import { success } from '../../schemas.ts';

export const DocumentAnswer = success(Document);

/** Another caller, whose view is returned. */
const view_as = v.optional(
  v.pipe(
    v.string(),
    v.regex(/^(?:publishable|[0-9a-f]{24})$/i, 'must be publishable or the id of a user'),
    v.metadata({
      description:
        'Returns what an app would get with the publishable key. publishable: without a user. The id of a user: as this user, signed in with a second factor.',
    }),
  ),
);

export const ViewedListQuery = v.looseObject({ ...ListQuery.entries, view_as });
export const ViewedGetQuery = v.object({ ...GetQuery.entries, view_as });
