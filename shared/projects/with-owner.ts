import type { Document } from 'mongodb';
import type { PlanName } from './project.ts';

/**
 * What a project has of its owner's account: the plan, the address, and whether it was verified; nothing of one that is
 * gone.
 */
export interface OwnerFacts {
  readonly plan?: PlanName;
  readonly ownerEmail?: string;
  readonly ownerVerified?: boolean;
}

/** The stages of an aggregation on `control.projects` that give each its `OwnerFacts`, in one look-up. */
export const withOwner: readonly Document[] = [
  { $lookup: { from: 'developers', localField: 'ownerId', foreignField: '_id', as: 'owner' } },
  {
    $set: {
      plan: { $first: '$owner.plan' },
      ownerEmail: { $first: '$owner.email' },
      ownerVerified: { $first: '$owner.emailVerified' },
    },
  },
  { $unset: 'owner' },
];
