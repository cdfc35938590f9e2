import { type Document, ObjectId } from 'mongodb';
import { absenceMs, forgetWhenSaved, ShortCache } from '../core/cache.ts';
import { AppError } from '../core/errors.ts';
import { idOf } from '../core/values.ts';
import { inControl } from '../persistence/mongo.ts';
import { type PlanName, type Project, type ProjectRecord, projectRecords, type Role, toProject } from './project.ts';

/** Empty if the account is deleted. */
export interface OwnerFacts {
  readonly plan?: PlanName;
  readonly ownerEmail?: string;
  readonly ownerVerified?: boolean;
}

/**
 * Aggregation stages on `control.projects` that add `OwnerFacts` with one look-up. They exclude projects of deleted
 * accounts, which may be marked only later.
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

/** The part of a developer record that is read here. */
interface Owner {
  readonly _id: ObjectId;
  readonly plan: PlanName;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly deletingSince?: Date;
}

const owners = inControl<Owner>('developers');

/** `ownerId`: 24 hex characters. */
type FindOwner = (ownerId: string) => Promise<OwnerFacts>;

export const loadOwner: FindOwner = async (ownerId) => {
  const owner = await owners.findOne({ _id: ObjectId.createFromHexString(ownerId) });
  return owner && !owner.deletingSince
    ? { plan: owner.plan, ownerEmail: owner.email, ownerVerified: owner.emailVerified }
    : {};
};

/** Settings take effect within 5 s. */
const knownOwners = new ShortCache<OwnerFacts>(5000, 2000);

export const findOwner: FindOwner = (ownerId) => knownOwners.get(ownerId, () => loadOwner(ownerId));

/** By id; deleted accounts are missing. */
export const emailsOf = async (developerIds: readonly ObjectId[]): Promise<ReadonlyMap<string, string>> => {
  const people = await owners.find({ _id: { $in: [...developerIds] } }, { projection: { email: 1 } });
  return new Map(people.map(({ _id, email }) => [_id.toHexString(), email]));
};

const isMiss = (project: Project | undefined): boolean => project === undefined;

/** Settings take effect within 5 s. */
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
 * For requests without a key (JWKS, provider callbacks): one query at most every 5 s. `undefined` for malformed,
 * unknown and deleted ids.
 */
export const findProjectById = async (id: string): Promise<Project | undefined> =>
  /^[0-9a-f]{24}$/.test(id) ? projects.get(id, () => read(id)) : undefined;

export const requireProject = async (id: string): Promise<Project> => {
  const project = await findProjectById(id);
  if (!project) throw new AppError('PROJECT_NOT_FOUND', 'Project not found.');
  return project;
};

/** Reads the current record, for work that must notice a move to another database. */
export const loadProject = (projectId: ObjectId): Promise<Project | undefined> => read(projectId.toHexString());

export interface OwnedProject {
  readonly project: Project;
  readonly record: ProjectRecord;
  readonly role: Role;
}

/** `developerId`: 24 hex characters. `undefined` if the developer is not a member. */
export const roleIn = ({ ownerId, members = [] }: ProjectRecord, developerId: string): Role | undefined => {
  if (ownerId.toHexString() === developerId) return 'owner';
  return members.find((member) => member.developerId.toHexString() === developerId)?.role;
};

/**
 * Reads the current record. `undefined` for malformed, unknown, deleted and other developers' ids, and if the
 * developer's or owner's account is deleted. Finding it by `_id` alone halves the database's work; the developer is
 * read in parallel.
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
