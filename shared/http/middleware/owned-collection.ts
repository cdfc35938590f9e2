import { toCollection } from '../../collections/collection-record.ts';
import { requireRecord } from '../../collections/control-collections.ts';
import type { WithCollection } from './collection.ts';
import type { WithOwnedProject } from './developer.ts';
import type { Middleware } from './middleware-types.ts';

/** The collection of the developer's project that the path names, as it is now; not registered → 404. */
export const ownedCollection = (): Middleware<WithOwnedProject, WithCollection> => ({
  before: async ({ event, context }) => {
    const record = await requireRecord(context.owned.project, event.pathParameters?.collectionName ?? '');
    return { collection: toCollection(record) };
  },
});
