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

/** API Gateway waits 30 s; verification takes up to 9.5 s of them. */
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

const placedIn = (project: Project, placement: PlacementRecord): Project => ({
  ...project,
  placement: toPlacement(project.id, placement),
});

/** Takes effect within 5 s in every function, immediately in this process. */
const placeProject = (owned: OwnedProject, placement: PlacementRecord): Promise<ProjectView> => {
  const since = new Date(clock.now());
  return changeProject(owned, { $set: { placement: { ...placement, since }, updatedAt: since } });
};

/**
 * Verifies the URI, builds the indexes, then moves the project; no document is copied. Throws 400 if a verifier cannot
 * connect, 409 `SCHEMA_CONFLICT` if existing documents do not fit. On failure nothing changes.
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
  // For collections that were created or edited meanwhile. A failure does not undo the connection.
  await prepareDatabase(placed, againLimitMs).catch(() => undefined);
  return view;
};

const managed = { kind: 'managed', cell: 'main' } as const;

/**
 * Moves the project back to our database; nothing is copied. `unfit` collections do not prevent it, because the
 * customer's database may be gone.
 */
export const disconnectDatabase = async (owned: OwnedProject) => {
  const { project, record } = owned;
  if (project.placement.kind === 'managed') return { view: toProjectView(record, project.plan), unfit: [] };
  const unprepared = await prepareDatabase(placedIn(project, managed), indexLimitMs);
  return { view: await placeProject(owned, managed), unfit: unprepared.map(({ collection }) => collection) };
};
