import { clock } from '../../core/clock.ts';
import { databaseFull, hasDatabaseRoom } from '../../projects/quota/database-quota.ts';
import type { JsonObject } from '../document.ts';
import { presentStored } from '../present.ts';
import type { Revised } from '../revision.ts';
import { requireWriteAccess, type Visit } from '../row-security.ts';
import { setFields } from './change-document.ts';
import { maxFusedBytes } from './fuse.ts';
import { planUpdate, withoutGrowth } from './update-plan.ts';

/**
 * Sets the fields of a body, dotted paths included, and returns the whole document, in one command. Besides the
 * refusals of `planUpdate`: missing or trashed → 404; another user's → 403 `NOT_OWNER`; 403 `DATABASE_QUOTA_EXCEEDED`
 * where the document would grow; 409 `DUPLICATE_VALUE`; another revision than `ifMatch` → 412. A document that may be
 * too large for its answer is read first. Contract 2, "Update".
 */
export const updateDocument = async (
  visit: Visit,
  id: string,
  body: JsonObject,
  ifMatch?: number,
): Promise<Revised> => {
  const { project, collection, caller } = visit;
  requireWriteAccess(visit);
  const planned = planUpdate(collection, body, caller.kind === 'secret');
  const hasRoom = await hasDatabaseRoom(project, planned.size);
  const plan = hasRoom ? planned : withoutGrowth(planned, databaseFull(project));
  const fields = { ...plan.set, updatedAt: new Date(clock.now()) };
  const isFused =
    ifMatch === undefined && plan.size <= maxFusedBytes && plan.guards.every(({ leavesRoom }) => leavesRoom);
  const change = { state: 'active', guards: plan.guards, ifMatch, fields, isFused } as const;
  return presentStored(project, await setFields(visit, id, change));
};
