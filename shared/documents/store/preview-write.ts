import { isDeepStrictEqual } from 'node:util';
import { clock } from '../../core/clock.ts';
import { onProject } from '../../persistence/mongo.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import { type AccessContext, obeysRules } from '../access/access.ts';
import { requireCreate } from '../access/writing.ts';
import type { Document, JsonObject } from '../document.ts';
import { changeOf, nameOf, previewChange, previewInsert, requireMet } from './batch-check.ts';
import { type BatchWrite, performWrite } from './batch-writes.ts';
import { mayBeFollowed } from './cascade-records.ts';
import { requireReferences } from './references.ts';
import { requireUnrestricted } from './removal.ts';
import { requireUntaken } from './taken-values.ts';

/** A document before and after a write. */
export interface PreviewedWrite {
  readonly before?: Document | undefined;
  readonly after?: Document | undefined;
}

/** Documents as the writes of a dry run leave them. */
export class PreviewedDocuments {
  readonly #documents: Map<string, Document>;

  constructor(documents: Iterable<readonly [string, Document]> = []) {
    this.#documents = new Map(documents);
  }

  get(context: AccessContext, { _id }: Pick<Document, '_id'>): Document | undefined {
    return this.#documents.get(nameOf(context, _id));
  }

  /** Stores a document unless another one has a unique value of it: then throws 409 `DUPLICATE_VALUE`. */
  async store(context: AccessContext, before: Document | undefined, after: Document): Promise<void> {
    const prefix = `${context.collection.name} `;
    const others = [...this.#documents].flatMap(([name, each]) => (name.startsWith(prefix) ? [each] : []));
    await requireUntaken(context, before, after, others);
    this.#documents.set(nameOf(context, after._id), after);
  }

  copy(): PreviewedDocuments {
    return new PreviewedDocuments(this.#documents);
  }
}

const findOne = async ({ access: { project, collection }, id }: BatchWrite): Promise<Document | null> =>
  onProject(project, (db) => db.collection<Document>(collection.name).findOne({ _id: id }, { maxTimeMS }));

/** The fields whose values a write changes. */
const changedFields = (before: Document, after: Document): JsonObject =>
  Object.fromEntries(Object.entries(after).filter(([name, value]) => !isDeepStrictEqual(value, before[name])));

/**
 * What a write would store, with the effects of its collection that set fields or send an email, and without storing
 * it. Throws the errors of the write. `left` gets the document.
 */
export const previewWrite = async (write: BatchWrite, left: PreviewedDocuments): Promise<PreviewedWrite> => {
  const { access, id } = write;
  const { project, collection } = access;
  const earlier = left.get(access, { _id: id });
  if (write.op === 'check') {
    if (earlier) await requireMet(access, earlier, write, true);
    else await performWrite(write);
    return {};
  }
  if (write.op === 'insert') {
    const after = await previewInsert(write);
    if (obeysRules(access)) await requireCreate(access, after);
    await requireReferences(access, after);
    await left.store(access, undefined, after);
    return { after };
  }
  const before = earlier ?? (await findOne(write)) ?? undefined;
  const change = await changeOf(write, true);
  const after = await previewChange(access, before ?? null, change, earlier !== undefined);
  if (!before || !after) return {};
  if (write.op === 'update') await requireReferences(access, changedFields(before, after));
  else if (mayBeFollowed(project, collection.name, 'trash')) {
    const at = new Date(clock.now());
    const removed = { collection: collection.name, ids: [id], kind: 'trash', wasActive: true, at } as const;
    await requireUnrestricted(access, removed);
  }
  await left.store(access, before, after);
  return { before, after };
};
