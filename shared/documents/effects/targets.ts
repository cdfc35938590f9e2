import { type Document as MongoDocument, ObjectId } from 'mongodb';
import { type Collection, ownerFieldOf } from '../../collections/collection.ts';
import type { Expression } from '../../collections/effects/effect.ts';
import { onCollection } from '../../collections/find-collections.ts';
import { usersCollection } from '../../collections/names.ts';
import { isActive, isTrashed } from '../../collections/trash-conditions.ts';
import { AppError } from '../../core/errors.ts';
import { deserialize, findFirstRaw } from '../../persistence/raw-documents.ts';
import { type AccessContext, isClosed } from '../access/access.ts';
import { wholeAt } from '../access/decide.ts';
import { hiddenIn, relationOf, type Unreadable, unreadableFor } from '../access/field-rights.ts';
import { filterTargets } from '../access/reading.ts';
import type { Document, JsonObject } from '../document.ts';
import { boundedQuery } from '../query/bounded-query.ts';
import { allOf, matching, type Readable } from '../query/condition.ts';
import type { EffectSource } from './compute.ts';

const nothingHidden = () => false;

/** Which fields of a document are hidden from the caller. */
export const sourceOf = (unreadable: Unreadable | undefined, document: Document): EffectSource => {
  if (!unreadable) return { document, hides: nothingHidden };
  const hidden = hiddenIn(unreadable, document);
  return { document, hides: (path) => hidden.some((right) => relationOf(path, right).kind !== 'none') };
};

/** The documents that Refs lead to, per collection and id. */
type Targets = ReadonlyMap<string, ReadonlyMap<string, EffectSource>>;

type DocOfRef = Required<Extract<Expression, { kind: 'doc' }>>;

/** A document larger than this is read without the fields that no expression needs, from its second read on. */
const wholeBytes = 16 * 1024;

const withLarge = new WeakSet<Collection>();

/** MongoDB is fastest if a query finds one document by its id alone and returns all of it. */
const findOneSource = async (
  { project, collection }: AccessContext,
  _id: ObjectId,
  projection: MongoDocument,
): Promise<readonly Document[]> => {
  const options = withLarge.has(collection) ? { projection } : {};
  const raw = await onCollection(project, collection.name, (db) => findFirstRaw(db, collection.name, { _id }, options));
  if (!raw) return [];
  if (raw.byteLength > wholeBytes) withLarge.add(collection);
  return [deserialize(raw) as Document];
};

/** The active documents of some ids that a condition lets the caller read. */
const findAllowed = (
  { project, collection }: AccessContext,
  ids: readonly ObjectId[],
  readable: Readable | undefined,
  projection: MongoDocument,
): Promise<readonly Document[]> => {
  const condition = allOf([{ _id: { $in: [...ids] } }, isActive, ...(readable ? [readable.condition] : [])]);
  const joins = readable?.joins;
  return boundedQuery(
    project,
    collection.name,
    () => ['effect', condition, joins],
    (db, limitMs) => {
      const documents = db.collection<Document>(collection.name);
      return joins
        ? documents
            .aggregate<Document>([...matching(condition, joins), { $project: projection }], { maxTimeMS: limitMs })
            .toArray()
        : documents.find(condition, { projection, maxTimeMS: limitMs }).toArray();
    },
  );
};

/** The active documents that the caller may read, with the fields that expressions read. One query. */
const findSources = async (
  context: AccessContext,
  ids: readonly ObjectId[],
  paths: readonly string[],
): Promise<ReadonlyMap<string, EffectSource>> => {
  const { collection } = context;
  if (isClosed(context)) return new Map();
  let readable: Readable | undefined | 'none';
  try {
    readable = await filterTargets(context, false);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'MFA_REQUIRED') throw error;
    return new Map();
  }
  if (readable === 'none') return new Map();
  const unreadable = await unreadableFor(context);
  const names = [...paths, ownerFieldOf(collection.rls) ?? '_id'].map((path) => path.split('.', 1)[0] ?? '');
  const projection = Object.fromEntries([...names, 'isDeleted'].map((name) => [name, 1]));
  const [_id] = ids;
  const found =
    _id && ids.length === 1 && !readable
      ? await findOneSource(context, _id, projection)
      : await findAllowed(context, ids, readable, projection);
  const active = found.filter((document) => !isTrashed(document));
  return new Map(active.map((document) => [String(document._id), sourceOf(unreadable, document)]));
};

const serverOf = (context: AccessContext): AccessContext => ({ ...context, caller: { kind: 'secret' } });

/**
 * Reads the documents that `$doc` expressions reach through Refs: one query per target collection. Uses the rights of
 * the caller, or of the server if the effect is trusted. Every existing user counts as readable.
 */
export const findTargets = async (
  context: AccessContext,
  known: ReadonlyMap<string, Collection>,
  expressions: readonly Expression[],
  documents: readonly JsonObject[],
  trusted: boolean,
): Promise<Targets> => {
  const reads = expressions.filter((each): each is DocOfRef => each.kind === 'doc' && each.ref !== undefined);
  const perCollection = Map.groupBy(reads, ({ ref }) => ref.collection);
  const found = await Promise.all(
    [...perCollection].map(async ([name, docs]) => {
      const collection = known.get(name);
      const ids = new Map<string, ObjectId>();
      for (const document of documents) {
        for (const { ref } of docs) {
          const id = wholeAt(document, ref.path);
          if (id instanceof ObjectId) ids.set(id.toHexString(), id);
        }
      }
      if (!collection || ids.size === 0) return [name, new Map<string, EffectSource>()] as const;
      const caller = { ...context, collection };
      const asServer = trusted && name !== usersCollection;
      const paths = docs.map(({ path }) => path);
      return [name, await findSources(asServer ? serverOf(caller) : caller, [...ids.values()], paths)] as const;
    }),
  );
  return new Map(found);
};
