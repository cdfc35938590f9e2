import type { Filter, Document as MongoDocument } from 'mongodb';
import { isActive } from '../../collections/trash-conditions.ts';
import { type AccessContext, mayWrite, notOwner } from '../access/access.ts';
import { decideWrite, obeysRules } from '../access/rule-access.ts';
import { countingOf, type Document, isAt, type JsonObject, revisionOf } from '../document.ts';
import { appliedBy } from './applied.ts';
import { planFor } from './plan-update.ts';
import { requireReferences, setsReferences } from './references.ts';
import { stamped } from './stamps.ts';
import { sizeOf } from './validate.ts';

/** An update of a document that was read. All checks are done. */
export interface PreparedUpdate {
  /** Matches the document only as it was read. */
  readonly filter: Filter<MongoDocument>;
  readonly update: MongoDocument;
  /** The document that was read, and the top-level fields that change. */
  readonly before: Document;
  readonly fields: ReadonlySet<string>;
  /** The document after the update. */
  readonly made: Document;
}

/**
 * Prepares an upsert's update of a given document, for a write of several documents, all or none. Throws the errors
 * of `updateDocument`.
 */
export const prepareUpsert = async (
  context: AccessContext,
  document: Document,
  body: JsonObject,
): Promise<PreparedUpdate> => {
  const { collection } = context;
  const { plan, fields, settle } = await planFor(context, body);
  const bytes = sizeOf(document);
  let set: JsonObject = fields;
  const settled = async () => {
    for (const { refusal } of plan.guards) {
      const refused = refusal(document, bytes);
      if (refused) throw refused;
    }
    if (settle) set = await settle(document);
    return appliedBy(set);
  };
  if (obeysRules(context)) {
    const decision = await decideWrite(context, 'upsert', appliedBy(fields));
    await decision.require(document, settled);
  } else {
    if (!mayWrite(context, document)) throw notOwner();
    await settled();
  }
  if (setsReferences(collection, set)) await requireReferences(context, set);
  const { where, operators } = stamped(context, countingOf(document));
  return {
    filter: { _id: document._id, ...isActive, $and: [isAt(revisionOf(document)), where] },
    update: {
      ...operators,
      $set: { ...set, ...operators.$set },
    },
    before: document,
    fields: appliedBy(set).fields,
    made: appliedBy({ ...set, _rev: revisionOf(document) + 1 }).to(document),
  };
};
