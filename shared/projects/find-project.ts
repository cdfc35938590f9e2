import { type Document, ObjectId } from 'mongodb';
import { absenceMs, forgetWhenSaved, ShortCache } from '../core/cache.ts';
import { AppError } from '../core/errors.ts';
import type { PageRequest } from '../core/values.ts';
import { idOf } from '../core/view.ts';
import { inControl } from '../persistence/mongo.ts';
import { findPage } from '../persistence/records.ts';
import { type PlanName, type Project, type ProjectRecord, projectRecords, type Role, toProject } from './project.ts';
import { toProjectView } from './project-view.ts';

/** What a project has of its owner's account; nothing of one that is gone. */
export interface OwnerFacts {
  readonly plan?: PlanName;
  readonly ownerEmail?: string;
  readonly ownerVerified?: boolean;
}

/**
 * The stages of an aggregation on `control.projects` that give each its `OwnerFacts`, in one look-up, and leave out
 * those whose owner has deleted their account: the projects themselves may be marked only later.
 */
export const withOwner: readonly Document[] = [
  { $lookup: { from: 'developers', localField: 'ownerId', foreignField: '_id', as: 'owner' } },
  { $match: { 'owner.deletingSince': { $exists: false } } },
  {
    $set: {
      plan: { $first: '$owner.plan' },
      ownerEmail: { $first: '$owner.email' },
      ownerVerified: { $first: '$owner.emailVerified' },
    },
  },
  { $unset: 'owner' },
];

/** What is read here of a developer's record, which `shared/accounts` has. */
interface Owner {
  readonly _id: ObjectId;
  readonly plan: PlanName;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly deletingSince?: Date;
}

const owners = inControl<Owner>('developers');

/** Looks up those of one owner, 24 hex characters. */
type FindOwner = (ownerId: string) => Promise<OwnerFacts>;

/** As they are now; nothing of one who has deleted their account. */
export const loadOwner: FindOwner = async (ownerId) => {
  const owner = await owners.findOne({ _id: ObjectId.createFromHexString(ownerId) });
  return owner && !owner.deletingSince
    ? { plan: owner.plan, ownerEmail: owner.email, ownerVerified: owner.emailVerified }
    : {};
};

/** Settings take effect within 5 s everywhere (contract 1), so nothing is kept longer. */
const knownOwners = new ShortCache<OwnerFacts>(5000, 2000);

/** One look-up at most every 5 s, for what only reads. */
export const findOwner: FindOwner = (ownerId) => knownOwners.get(ownerId, () => loadOwner(ownerId));

/** The addresses of developers as they are now, by their ids of 24 hex characters; none of accounts that are gone. */
export const emailsOf = async (developerIds: readonly ObjectId[]): Promise<ReadonlyMap<string, string>> => {
  const people = await owners.find({ _id: { $in: [...developerIds] } }, { projection: { email: 1 } });
  return new Map(people.map(({ _id, email }) => [_id.toHexString(), email]));
};

const isMiss = (project: Project | undefined): boolean => project === undefined;

/** Settings take effect within 5 s everywhere (contract 1), so nothing is kept longer. */
const projects = new ShortCache<Project | undefined>(5000, 2000, { isMiss, size: 500, ttlMs: absenceMs });

forgetWhenSaved((projectId) => projects.forget((key) => key === projectId));

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
  /^[0-9a-f]{24}$/.test(id) ? projects.get(id, () => read(id)) : undefined;

/** The same, where there must be one: else 404 `PROJECT_NOT_FOUND`. */
export const requireProject = async (id: string): Promise<Project> => {
  const project = await findProjectById(id);
  if (!project) throw new AppError('PROJECT_NOT_FOUND', 'Project not found.');
  return project;
};

/** The active project as it is now, for work that must not go on in a place that it has left. */
export const loadProject = (projectId: ObjectId): Promise<Project | undefined> => read(projectId.toHexString());

/** A project, its record, and the developer's role in it, for its owner and members. */
export interface OwnedProject {
  readonly project: Project;
  readonly record: ProjectRecord;
  readonly role: Role;
}

/** The role of a developer, 24 hex characters, in a project; `undefined` for a stranger. */
export const roleIn = ({ ownerId, members = [] }: ProjectRecord, developerId: string): Role | undefined => {
  if (ownerId.toHexString() === developerId) return 'owner';
  return members.find((member) => member.developerId.toHexString() === developerId)?.role;
};

/**
 * The active project by id that the developer owns or is a member of, as it is now; `undefined` for malformed, unknown,
 * deleted and other developers' ids, and where the account of the developer, or of the owner, is deleted. The plan is
 * that of its owner. Found by the `_id` alone, which costs the database half, and beside the developer, who mostly is
 * the owner.
 */
export const findOwnedProject = async (
  developerId: string,
  projectId: string,
  ownerOf: FindOwner = loadOwner,
): Promise<OwnedProject | undefined> => {
  const _id = idOf(projectId);
  if (!_id) return undefined;
  const [record, own] = await Promise.all([projectRecords.findOne({ _id }), ownerOf(developerId)]);
  const role = record?.state === 'active' ? roleIn(record, developerId) : undefined;
  if (!record || !role || own.ownerEmail === undefined) return undefined;
  const facts = role === 'owner' ? own : await ownerOf(record.ownerId.toHexString());
  if (facts.ownerEmail === undefined) return undefined;
  return { project: toProject({ ...record, ...facts }), record, role };
};

/** The active projects that a developer owns or is a member of; each half is an index of its own, in their order. */
export const projectsOf = (developerId: ObjectId, only: readonly ObjectId[] | null): Document => {
  const named = only ? { _id: { $in: only } } : {};
  return {
    $or: [
      { ownerId: developerId, state: 'active', ...named },
      { 'members.developerId': developerId, state: 'active', ...named },
    ],
  };
};

/** What the list does not show, and records can have a lot of. */
const unseen = { keys: 0, signingKeys: 0, invitations: 0 } as const;

/** A page of the projects that a developer owns or is a member of, newest first; `only` confines it to these ids. */
export const listProjects = async (
  developerId: string,
  request: PageRequest,
  only: readonly string[] | null = null,
) => {
  const filter = projectsOf(new ObjectId(developerId), only?.map((id) => new ObjectId(id)) ?? null);
  return findPage(projectRecords, filter, request, { sort: { _id: -1 }, projection: unseen }, async (record) => {
    const { plan = 'free' } = await findOwner(record.ownerId.toHexString());
    return { ...toProjectView(record, plan), role: roleIn(record, developerId) ?? 'viewer' };
  });
};
