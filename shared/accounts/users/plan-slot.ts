import { onManaged } from '../../clients/mongo.ts';
import { usersCollection } from '../../collections/schema/collection-name.ts';
import { AppError } from '../../core/errors.ts';
import { plans } from '../../projects/plans.ts';
import type { Project } from '../../projects/project.ts';
import { freeSlot } from '../../projects/slots.ts';
import type { UserRecord } from './user-record.ts';

const limitReached = (project: Project, limit: number): AppError =>
  new AppError('PLAN_LIMIT', `The ${project.plan} plan allows ${limit} users, and this project has as many.`);

/**
 * A free slot among the users that the project's plan allows; `undefined` if the plan has no limit, 403 `PLAN_LIMIT` if
 * none is left. The unique index on `planSlot` decides between parallel callers. Users without a slot, created under a
 * plan without limit, each take one away.
 */
export const freePlanSlot = async (project: Project): Promise<number | undefined> => {
  const limit = plans[project.plan].users;
  if (limit === null) return undefined;
  const users = await onManaged(project, (db) =>
    db
      .collection<UserRecord>(usersCollection)
      .find({}, { projection: { _id: 0, planSlot: 1 }, limit, maxTimeMS: 5000 })
      .toArray(),
  );
  if (users.length >= limit) throw limitReached(project, limit);
  const used = users.flatMap(({ planSlot }) => planSlot ?? []);
  const slot = freeSlot(used, limit - (users.length - used.length));
  if (slot === undefined) throw limitReached(project, limit);
  return slot;
};
