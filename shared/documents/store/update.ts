import { checksReferences } from '../../collections/schema/references.ts';
import { type AccessContext, obeysRules, requireWriteAccess } from '../access/access.ts';
import { type Applied, decideWrite } from '../access/writing.ts';
import type { JsonObject } from '../document.ts';
import { runsEffects } from '../effects/set-fields.ts';
import type { Guard } from './guarded-write.ts';
import { appliedBy } from './operations.ts';
import { planFor } from './plan-update.ts';
import type { Preconditions } from './preconditions.ts';
import { requireReferences, setsReferences } from './references.ts';
import { setFields } from './write-fields.ts';
import { shownToWriter, type WrittenDocument } from './written.ts';

/** For the check of the token, before the body of an update is read. */
const anyFields: Applied = appliedBy({});

/** What an upsert adds to an update. */
interface Upserting {
  readonly operation?: 'update' | 'upsert';
  readonly guards?: readonly Guard[];
}

/**
 * Sets the fields of a body, dotted paths included, with one command and returns the whole document. Throws the
 * errors of `planUpdate`; 404 if the document is missing or trashed, 403 `NOT_OWNER` for another user's, 403
 * `DATABASE_QUOTA_EXCEEDED` if it would grow in a full database, 409 `DUPLICATE_VALUE`, 412 at another revision than
 * `ifMatch`. A document that may be too large for a response is read first. Contract 2, "Update".
 */
export const updateOne = async (
  context: AccessContext,
  id: string,
  body: JsonObject,
  { ifMatch, where }: Preconditions = {},
  { operation = 'update', guards: others = [] }: Upserting = {},
): Promise<WrittenDocument> => {
  const byRules = obeysRules(context);
  if (byRules) await decideWrite(context, operation, anyFields);
  else requireWriteAccess(context);
  const { plan, fields, settle } = await planFor(context, body);
  const { operations } = plan;
  // References are checked last.
  const named = plan.operated.length > 0 ? { ...plan.set, ...plan.additions } : plan.set;
  const isComputed = runsEffects(context, 'update') && checksReferences(context.collection);
  const verify =
    isComputed || setsReferences(context.collection, named)
      ? (settled: JsonObject) => requireReferences(context, { ...(settle ? settled : plan.set), ...plan.additions })
      : undefined;
  const applied = byRules ? { applied: appliedBy(fields, operations) } : {};
  const change = {
    operation,
    state: 'active',
    guards: [...others, ...plan.guards],
    ...(settle && { settle }),
    verify,
    operations,
    ifMatch,
    where,
    fields,
    addedBytes: plan.size,
    event: 'update',
    ...applied,
  } as const;
  return shownToWriter(context, await setFields(context, id, change));
};
