import { prepareDatabase, type Unprepared } from '../collections/indexes/build.ts';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { changeProject } from '../projects/change-project.ts';
import type { OwnedProject } from '../projects/find-project.ts';
import { databaseUriId, type PlacementRecord, type Project, toPlacement } from '../projects/project.ts';
import { type ProjectView, toProjectView } from '../projects/project-view.ts';
import { seal } from '../projects/sealed.ts';
import { type DatabaseUri, parseDatabaseUri, redactedHost } from './uri.ts';
import { requireAccess, restrictedUri } from './verification.ts';

/** A gateway waits 30 s, and verification has taken up to 9.5 s of them. */
const indexLimitMs = 15_000;
const againLimitMs = 3000;

const parse = (text: string): DatabaseUri => {
  try {
    return parseDatabaseUri(text);
  } catch (error) {
    throw restrictedUri(error);
  }
};

const schemaConflict = (unprepared: readonly Unprepared[]): AppError =>
  new AppError(
    'SCHEMA_CONFLICT',
    "Documents or indexes in that database do not fit this project's collections. The database was not connected.",
    {
      errors: unprepared.map(({ collection, error }) => ({
        field: collection,
        message: `${collection}: ${error.message}`,
      })),
      cause: unprepared[0]?.error,
    },
  );

/** The project as it will be once its documents live there. */
const placedIn = (project: Project, placement: PlacementRecord): Project => ({
  ...project,
  placement: toPlacement(project.id, placement),
});

/** Changes where the project's documents are; takes effect in every function within 5 s, in this process at once. */
const placeProject = (owned: OwnedProject, placement: PlacementRecord): Promise<ProjectView> => {
  const since = new Date(clock.now());
  return changeProject(owned, { $set: { placement: { ...placement, since }, updatedAt: since } });
};

/**
 * Places a project's documents in a database of its own: verifies the URI, builds the indexes, and only then has
 * requests go there; no document is copied. Not reached by both verifiers → 400 with a message of contract 7; documents
 * there that do not fit → 409 `SCHEMA_CONFLICT`. If it fails all stays as it was.
 */
export const connectDatabase = async (owned: OwnedProject, text: string): Promise<ProjectView> => {
  const uri = parse(text);
  const { project } = owned;
  await requireAccess(project.id, text, uri);
  const placement = {
    kind: 'external',
    host: redactedHost(uri),
    encryptedUri: await seal(text, databaseUriId(project.id)),
  } as const;
  const placed = placedIn(project, placement);
  const unprepared = await prepareDatabase(placed, indexLimitMs);
  if (unprepared.length > 0) throw schemaConflict(unprepared);
  const view = await placeProject(owned, placement);
  // For collections created or edited in the meantime; a failure here does not undo the connection.
  await prepareDatabase(placed, againLimitMs).catch(() => undefined);
  return view;
};

const managed = { kind: 'managed', cell: 'main' } as const;

/**
 * Places a project's documents in our database again; nothing is copied, and its own one stays as it is. `unfit`
 * collections do not stop that: no project is kept in a database that may be gone.
 */
export const disconnectDatabase = async (owned: OwnedProject) => {
  const { project, record } = owned;
  if (project.placement.kind === 'managed') return { view: toProjectView(record, project.plan), unfit: [] };
  const unprepared = await prepareDatabase(placedIn(project, managed), indexLimitMs);
  return { view: await placeProject(owned, managed), unfit: unprepared.map(({ collection }) => collection) };
};
