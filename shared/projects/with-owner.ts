import { type Document, ObjectId } from 'mongodb';
import { inControl } from '../clients/mongo.ts';
import { ShortCache } from '../core/short-cache.ts';
import type { PlanName } from './project.ts';

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
export type FindOwner = (ownerId: string) => Promise<OwnerFacts>;

/** As they are now; nothing of one who has deleted their account. */
export const loadOwner: FindOwner = async (ownerId) => {
  const owner = await owners.findOne({ _id: ObjectId.createFromHexString(ownerId) });
  return owner && !owner.deletingSince
    ? { plan: owner.plan, ownerEmail: owner.email, ownerVerified: owner.emailVerified }
    : {};
};

/** Settings take effect within 5 s everywhere (contract 1), so nothing is kept longer. */
const cache = new ShortCache<OwnerFacts>(5000, 2000);

/** One look-up at most every 5 s, for what only reads. */
export const findOwner: FindOwner = (ownerId) => cache.get(ownerId, () => loadOwner(ownerId));

/** The addresses of developers as they are now, by their ids of 24 hex characters; none of accounts that are gone. */
export const emailsOf = async (developerIds: readonly ObjectId[]): Promise<ReadonlyMap<string, string>> => {
  const people = await owners.find({ _id: { $in: [...developerIds] } }, { projection: { email: 1 } });
  return new Map(people.map(({ _id, email }) => [_id.toHexString(), email]));
};
