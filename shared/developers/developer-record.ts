import type { IndexDescription, ObjectId } from 'mongodb';
import type { PlanName } from '../projects/project.ts';

/** A document of `control.developers`. `email` is canonical: trimmed, lower case. */
export interface DeveloperRecord {
  readonly _id: ObjectId;
  readonly email: string;
  readonly passwordHash: string;
  readonly plan: PlanName;
  readonly emailVerified: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Indexes of `control.developers`: one account an address, whoever registers at once. */
export const developerIndexes: readonly IndexDescription[] = [{ key: { email: 1 }, name: 'email', unique: true }];

/** A developer as he is shown to himself; never his hash. `_id` is 24 hex characters. */
export interface Developer {
  readonly _id: string;
  readonly email: string;
  readonly plan: PlanName;
  readonly emailVerified: boolean;
  readonly createdAt: Date;
}

export const toDeveloper = ({ _id, email, plan, emailVerified, createdAt }: DeveloperRecord): Developer => ({
  _id: _id.toHexString(),
  email,
  plan,
  emailVerified,
  createdAt,
});
