import { ObjectId } from 'mongodb';
import { AppError } from '../core/errors.ts';
import { forgetWhenSaved } from '../core/saved-projects.ts';
import { absenceMs, ShortCache } from '../core/short-cache.ts';
import type { Project } from './project.ts';
import { type ProjectRecord, projectRecords, toProject } from './project-record.ts';
import { type OwnerFacts, withOwner } from './with-owner.ts';

const isMiss = (project: Project | undefined): boolean => project === undefined;

/** Settings take effect within 5 s everywhere (contract 1), so nothing is kept longer. */
const cache = new ShortCache<Project | undefined>(5000, 2000, { isMiss, size: 500, ttlMs: absenceMs });

forgetWhenSaved((projectId) => cache.forget((key) => key === projectId));

const read = async (id: string): Promise<Project | undefined> => {
  const [row] = await projectRecords.aggregate<ProjectRecord & OwnerFacts>([
    { $match: { _id: ObjectId.createFromHexString(id), state: 'active' } },
    ...withOwner,
  ]);
  return row && toProject(row);
};

/**
 * The active project with an id, for requests that bring no key (JWKS, what an identity provider sends back): one
 * aggregation at most every 5 s. `undefined` for malformed, unknown and deleted ones.
 */
export const findProjectById = async (id: string): Promise<Project | undefined> =>
  /^[0-9a-f]{24}$/.test(id) ? cache.get(id, () => read(id)) : undefined;

/** The same, where there must be one: else 404 `PROJECT_NOT_FOUND`. */
export const requireProject = async (id: string): Promise<Project> => {
  const project = await findProjectById(id);
  if (!project) throw new AppError('PROJECT_NOT_FOUND', 'There is no such project.');
  return project;
};

/** The active project as it is now, for work that must not go on in a place that it has left. */
export const loadProject = (projectId: ObjectId): Promise<Project | undefined> => read(projectId.toHexString());
