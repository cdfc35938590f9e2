import type { Collection } from '../../collections/collection.ts';
import { isHooked } from '../../events/announced.ts';
import { nudge } from '../../events/nudge.ts';
import type { Project } from '../../projects/project.ts';
import type { Middleware } from './middleware-types.ts';

/** Of what documents may have been written, once that is known. */
interface Written {
  readonly project?: Project;
  readonly owned?: { readonly project: Project };
  readonly collection?: Collection;
}

/**
 * Has the webhooks of the project looked at once documents were written, where some are told of them. What it costs is a
 * message a second; nothing depends on it, as the feed of the collection knows what there is to tell.
 */
export const tellWebhooks = (): Middleware<unknown, Written> => ({
  before: () => ({}),
  after: async ({ context: { owned, project = owned?.project, collection }, response }) => {
    const isWritten = collection?.feed?.on && response !== null && response !== undefined && response.statusCode < 300;
    if (isWritten && project && isHooked(project, 'document')) await nudge(project.id);
  },
});
