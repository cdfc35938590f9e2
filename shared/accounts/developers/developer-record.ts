import type { Collection, IndexDescription } from 'mongodb';
import { onControl } from '../../clients/mongo.ts';
import type { PlanName } from '../../projects/project.ts';
import type { AccountRecord } from '../account-store.ts';

/** A document of `control.developers`. */
export interface DeveloperRecord extends AccountRecord {
  readonly passwordHash: string;
  readonly plan: PlanName;
  readonly emailVerified: boolean;
  /** When the account was deleted, or its removal failed last; it counts as gone from then on. */
  readonly deletingSince?: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Indexes of `control.developers`: one account an address and an identity, whoever registers at once. */
export const developerIndexes: readonly IndexDescription[] = [
  { key: { email: 1 }, name: 'email', unique: true },
  {
    key: { 'identities.key': 1 },
    name: 'identity',
    unique: true,
    partialFilterExpression: { 'identities.key': { $exists: true } },
  },
  { key: { deletingSince: 1 }, name: 'deleting', sparse: true },
];

/** Runs an operation on `control.developers`. */
export const onDevelopers = <T>(operation: (developers: Collection<DeveloperRecord>) => Promise<T>): Promise<T> =>
  onControl((db) => operation(db.collection<DeveloperRecord>('developers')));

/** What developers see of themselves; never the hash. `_id` is 24 hex characters. */
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
