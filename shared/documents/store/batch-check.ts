import type { ObjectId } from 'mongodb';
import { countEffectWrites, effectTargets } from '../../collections/effects/effect.ts';
import { isShownIn } from '../../collections/trash-conditions.ts';
import { clock } from '../../core/clock.ts';
import { isClientError } from '../../core/errors.ts';
import { onProject } from '../../persistence/mongo.ts';
import { deserialize, findRaw, maxTimeMS } from '../../persistence/raw-documents.ts';
import { type AccessContext, obeysRules, requireWriteAccess } from '../access/access.ts';
import { hasProtected, requireInsertRights } from '../access/field-rights.ts';
import { mayGet, requireGet } from '../access/reading.ts';
import { createLooksUp, decideWrite, requireCreate } from '../access/writing.ts';
import { type Document, documentNotFound, type JsonObject, revisionOf } from '../document.ts';
import { runsEffects } from '../effects/set-fields.ts';
import { type BatchWrite, eventsOf, performWrite } from './batch-writes.ts';
import { findUnmet, writable } from './change-document.ts';
import { meetsAll } from './element-match.ts';
import type { Guard } from './guarded-write.ts';
import { requireInsertAccess } from './insert.ts';
import { madeOf } from './new-document.ts';
import { appliedBy, type FieldOperation } from './operations.ts';
import { planFor } from './plan-update.ts';
import { conditionFailed, type Preconditions, parseWriteCondition, revisionMismatch } from './preconditions.ts';
import { operationsBeside, type Settle } from './settle-update.ts';
import { withMailsOnDelete } from './trash.ts';
import { sizeOf } from './validate.ts';

/** Documents in the state after the earlier writes of a batch. `undefined`: not known. */
interface Preview {
  /** Written by the batch. */
  readonly written: Map<string, Document>;
  /** Stored documents; `null` for those that do not exist. */
  readonly stored: Map<string, Document | null>;
  /** Not known, because other documents decide about a write. */
  readonly unknown: Set<string>;
  /** Collections whose documents effects of the batch's writes change. */
  readonly affected: Set<string>;
}

export const nameOf = ({ collection }: AccessContext, id: ObjectId): string => `${collection.name} ${id}`;

/**
 * The maximum bytes of BSON of the documents of a batch in memory. The conditions of all others are checked with
 * their writes.
 */
const maxBytes = 16 * 1024 * 1024;

const findStored = async (writes: readonly BatchWrite[]): Promise<Preview['stored']> => {
  const stored = new Map<string, Document | null>();
  const changed = writes.filter(({ op }) => op === 'update' || op === 'delete');
  const byName = Map.groupBy(changed, ({ access }) => access.collection.name);
  let bytes = 0;
  for (const [name, group] of byName) {
    const ids = [...new Map(group.map(({ id }) => [id.toHexString(), id])).values()];
    const [first] = group;
    if (!first) continue;
    const { access } = first;
    await onProject(access.project, async (db) => {
      const found = new Map<string, Document>();
      const options = { limit: ids.length, maxTimeMS };
      for await (const batch of findRaw(db, name, { _id: { $in: ids } }, options)) {
        for (const raw of batch) {
          bytes += raw.byteLength;
          if (bytes > maxBytes) return;
          const document = deserialize(raw) as Document;
          found.set(nameOf(access, document._id), document);
        }
      }
      for (const id of ids) stored.set(nameOf(access, id), found.get(nameOf(access, id)) ?? null);
    });
  }
  return stored;
};

/** Throws 412 if a document does not meet the conditions of a write. */
export const requireMet = async (
  context: AccessContext,
  document: Document,
  { ifMatch, where }: Preconditions,
  isWritten: boolean,
): Promise<void> => {
  if (ifMatch !== undefined && revisionOf(document) !== ifMatch) throw await revisionMismatch(context, document);
  if (where === undefined) return;
  const { condition, filters } = await parseWriteCondition(context, where);
  const isMet = meetsAll(filters, document);
  if (isMet || (isMet === undefined && isWritten)) return;
  if (isWritten || (await findUnmet(context, document, where, condition))) {
    throw await conditionFailed(context, document);
  }
};

interface Change {
  readonly operation: 'update' | 'upsert' | 'delete';
  readonly fields: JsonObject;
  readonly operations?: readonly FieldOperation[] | undefined;
  readonly guards: readonly Guard[];
  readonly settle?: Settle | undefined;
  readonly asked: Preconditions;
  /** No other write of the request comes before it. */
  readonly isFirst: boolean;
}

/** The document after a change; `undefined` if other documents decide too, which earlier writes may change. */
export const previewChange = async (
  context: AccessContext,
  found: Document | null,
  { operation, fields, operations, guards, settle, asked, isFirst }: Change,
  isWritten: boolean,
): Promise<Document | undefined> => {
  const applied = operation === 'delete' ? undefined : appliedBy(fields, operations);
  const decision = obeysRules(context) ? await decideWrite(context, operation, applied) : undefined;
  try {
    const bytes = found ? sizeOf(found) : 0;
    const of = { state: 'active', guards, settle, operations } as const;
    const { document, settled } = await writable(context, of, found, bytes, decision);
    await requireMet(context, document, asked, isWritten);
    for (const { refusal } of guards) {
      const refused = refusal(document, bytes);
      if (refused) throw refused;
    }
    const left = settled ? operationsBeside(settled, operations) : operations;
    return { ...appliedBy(settled ?? fields, left).to(document), _rev: revisionOf(document) + 1 } as Document;
  } catch (error) {
    if (found && !isFirst && decision?.looksUp && isClientError(error)) return undefined;
    throw error;
  }
};

const trashed = (): JsonObject => ({ isDeleted: true, deletedAt: new Date(clock.now()) });

/** Of the first write, what effects do is known: no other one changes what they read. */
export const changeOf = async (
  write: Extract<BatchWrite, { op: 'update' | 'delete' }>,
  isFirst = false,
): Promise<Change> => {
  const { access, ifMatch, where } = write;
  const given = { asked: { ifMatch, where }, isFirst };
  if (!obeysRules(access)) requireWriteAccess(access);
  if (write.op === 'delete') {
    const fields = trashed();
    const settle = isFirst ? withMailsOnDelete(access, undefined, fields) : undefined;
    return { ...given, operation: 'delete', fields, guards: [], settle };
  }
  const { plan, fields, settle } = await planFor(access, write.changes);
  const known = runsEffects(access, 'update') && !isFirst ? undefined : settle;
  return { ...given, operation: 'update', fields, operations: plan.operations, guards: plan.guards, settle: known };
};

export const previewInsert = async (
  write: Extract<BatchWrite, { op: 'insert' }>,
  rules?: readonly ('create' | 'after')[],
): Promise<Document> => {
  const { access, document: body, id } = write;
  await requireInsertAccess(access);
  write.made = await madeOf(access, body, id);
  const { document } = write.made;
  if (hasProtected(access)) await requireInsertRights(access, body, document);
  if (obeysRules(access) && !(await createLooksUp(access))) await requireCreate(access, document, rules);
  return document;
};

const preview = async (write: BatchWrite, { written, stored, unknown, affected }: Preview): Promise<void> => {
  const { access, id } = write;
  const name = nameOf(access, id);
  if (write.op !== 'insert' && affected.has(access.collection.name)) unknown.add(name);
  if (write.op === 'insert') {
    // What an effect computes may come from a document that the batch writes.
    if (!runsEffects(access, 'create')) written.set(name, await previewInsert(write));
    else unknown.add(name);
    return;
  }
  const earlier = written.get(name);
  if (write.op === 'check') {
    if (unknown.has(name)) return;
    if (!earlier) {
      await performWrite(write);
      return;
    }
    await requireGet(access, false);
    if (!isShownIn(access.collection, false, earlier) || !(await mayGet(access, earlier))) throw documentNotFound();
    await requireMet(access, earlier, write, true);
    return;
  }
  const change = await changeOf(write);
  const found = earlier ?? stored.get(name);
  const made =
    found === undefined || unknown.has(name)
      ? undefined
      : await previewChange(access, found, change, earlier !== undefined);
  if (made && !runsEffects(access, 'update')) written.set(name, made);
  else unknown.add(name);
};

/**
 * Checks the conditions of a batch before its first write, as if its earlier writes were done. `forWrite` adds the
 * number of a write to its error.
 */
export const previewWrites = async (
  writes: readonly BatchWrite[],
  forWrite: (index: number, act: () => Promise<void>) => Promise<void>,
): Promise<void> => {
  const state = {
    written: new Map<string, Document>(),
    stored: await findStored(writes),
    unknown: new Set<string>(),
    affected: new Set<string>(),
  };
  for (const [index, write] of writes.entries()) {
    await forWrite(index, () => preview(write, state));
    const { collection } = write.access;
    const isEffective = eventsOf(write).some((event) => countEffectWrites(collection, event) > 0);
    for (const target of isEffective ? effectTargets(collection) : []) state.affected.add(target);
  }
};
