import { prepareDatabase } from '../../collections/indexes/prepare-database.ts';
import type { OwnedProject } from '../find-owned-project.ts';
import { type ProjectView, toProjectView } from '../project-view.ts';
import { placedIn, placeProject } from './place-project.ts';

const indexLimitMs = 15_000;
const managed = { kind: 'managed', cell: 'main' } as const;

/**
 * The project after it was disconnected; `unfit`: names of collections whose documents in our database violate their
 * schema.
 */
export interface Disconnected {
  readonly view: ProjectView;
  readonly unfit: readonly string[];
}

/**
 * Places a project's documents in our database again, with what it had there before; nothing is copied, and the
 * project's own database stays as it is. `unfit` names the collections of which our database holds documents that their
 * schema does not allow: such a thing must not keep a project in a database that may be gone. Nothing to do where none
 * is connected.
 */
export const disconnectDatabase = async (owned: OwnedProject): Promise<Disconnected> => {
  const { project, record } = owned;
  if (project.placement.kind === 'managed') return { view: toProjectView(record, project.plan), unfit: [] };
  const unprepared = await prepareDatabase(placedIn(project, managed), indexLimitMs);
  return { view: await placeProject(owned, managed), unfit: unprepared.map(({ collection }) => collection) };
};
