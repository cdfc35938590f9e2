import { BSON, type Db, ObjectId } from 'mongodb';
import { usersCollection } from '../../collections/names.ts';
import { publicProfileProjection } from '../../collections/schema/users.ts';
import { isActive, isShownIn } from '../../collections/trash-conditions.ts';
import { deserialize, findRaw, rawBatches } from '../../persistence/raw-documents.ts';
import type { Project } from '../../projects/project.ts';
import { type AccessContext, isClosed, mayReadAll, obeysRules } from '../access/access.ts';
import { type Unreadable, unreadableFor } from '../access/field-rights.ts';
import { filterTargets } from '../access/reading.ts';
import type { Document } from '../document.ts';
import { boundedQuery } from './bounded-query.ts';
import { allOf, matching, type Readable } from './condition.ts';
import { Row } from './find-rows.ts';
import { hintById, type IndexHint, withHint } from './index-hint.ts';
import { whole } from './projection.ts';

/** What replaces a reference: a document, `null` if it does not exist, or the id itself. */
type Replacement = Row | null | 'id';

/** Id, 24 hex characters → what replaces references to it. */
export type Replacements = (id: string) => Replacement;

/** JSON is never that much smaller than BSON, so documents beyond this cannot fit into a page. */
const maxReadBytes = 8 * 5 * 1024 * 1024;

type Find = Parameters<typeof findRaw>[3];

/** The documents that match a condition, as MongoDB sends them. */
const openTargets = (
  db: Db,
  name: string,
  { condition, joins }: Readable,
  find: Find,
): AsyncIterable<readonly Uint8Array[]> => {
  if (!joins) return findRaw(db, name, condition, find);
  const { projection = {}, limit = 0, ...options } = find;
  const shape = Object.keys(projection).length > 0 ? [{ $project: projection }] : [];
  const stages = [...matching(condition, joins), { $limit: limit }, ...shape];
  return rawBatches(db.collection(name).aggregate(stages, { ...options, raw: true, batchSize: limit }));
};

/** The documents as bytes; `undefined` if they exceed a page. */
const read = (
  project: Project,
  name: string,
  wanted: Readable,
  find: Omit<Find, 'maxTimeMS'>,
  hint: IndexHint | undefined,
): Promise<readonly Uint8Array[] | undefined> =>
  boundedQuery(
    project,
    name,
    () => ['populate', wanted],
    (db, maxTimeMS) =>
      withHint(hint, async (named) => {
        const found: Uint8Array[] = [];
        let bytes = 0;
        for await (const batch of openTargets(db, name, wanted, { ...find, ...named, maxTimeMS })) {
          bytes += batch.reduce((sum, raw) => sum + raw.byteLength, 0);
          if (bytes > maxReadBytes) return undefined;
          found.push(...batch);
        }
        return found;
      }),
  );

/** A stored document begins with its length and its id. */
const lengthBytes = 4;
const idHead = Buffer.from('\u0007_id\0', 'latin1');
const idFrom = lengthBytes + idHead.length;

const idIn = (raw: Uint8Array): string =>
  idHead.every((byte, index) => raw[lengthBytes + index] === byte)
    ? BSON.onDemand.ByteUtils.toHex(raw.subarray(idFrom, idFrom + 12))
    : String(deserialize(raw)._id);

/** A populated document as shown; `null` if it is hidden. */
const shownOf = (
  { project, collection }: AccessContext,
  raw: Uint8Array,
  includeDeleted: boolean,
  unreadable: Unreadable | undefined,
): Row | null => {
  if (collection.name === usersCollection)
    return new Row(project, raw, { fields: undefined, meta: false, unreadable }, false);
  const document = deserialize(raw) as Document;
  const isShown = isShownIn(collection, includeDeleted, document);
  return isShown ? new Row(project, raw, { ...whole, unreadable }, false, document) : null;
};

/** The named fields, and the id, of active documents that the caller may read; empty without access. */
const findReadableFields = async (
  context: AccessContext,
  ids: readonly string[],
  fields: { readonly [name: string]: 1 },
): Promise<readonly Uint8Array[]> => {
  const { project, collection } = context;
  if (isClosed(context)) return [];
  const readable = await filterTargets(context, false);
  if (readable === 'none') return [];
  const wanted = { _id: { $in: ids.map((id) => ObjectId.createFromHexString(id)) } };
  const condition = allOf([wanted, isActive, ...(readable ? [readable.condition] : [])]);
  const found = await read(
    project,
    collection.name,
    { condition, ...(readable?.joins && { joins: readable.joins }) },
    { projection: { _id: 1, ...fields }, limit: ids.length },
    readable && !obeysRules(context) ? hintById(context) : undefined,
  );
  return found ?? [];
};

/** The ids of active documents that the caller may read. */
export const findReadableIds = async (context: AccessContext, ids: readonly string[]): Promise<ReadonlySet<string>> =>
  new Set((await findReadableFields(context, ids, {})).map(idIn));

/** Id → `createdAt` of active documents that the caller may read. */
export const findReadableSince = async (
  context: AccessContext,
  ids: readonly string[],
): Promise<ReadonlyMap<string, unknown>> => {
  const found = await findReadableFields(context, ids, { createdAt: 1 });
  return new Map(found.map((raw) => [idIn(raw), deserialize(raw).createdAt]));
};

/**
 * Fetches the referenced documents of one collection in one query, as far as the caller may read them. A trashed
 * document counts as missing unless `includeDeleted` and the caller may see it. `users` yields public profiles only.
 * In a private collection, or one that requires a second factor, unreadable documents keep their ids, so that
 * nothing reveals what exists. `undefined` if they are too large for a page.
 */
export const findTargets = async (
  context: AccessContext,
  ids: readonly string[],
  includeDeleted: boolean,
): Promise<Replacements | undefined> => {
  const { project, collection } = context;
  if (isClosed(context)) return () => 'id';
  const readable = await filterTargets(context, includeDeleted);
  if (readable === 'none') return () => 'id';
  const unreadable = await unreadableFor(context);
  const wanted = { _id: { $in: ids.map((id) => ObjectId.createFromHexString(id)) } };
  const isUsers = collection.name === usersCollection;
  const active = isUsers && !includeDeleted ? [isActive] : [];
  const conditions = [wanted, ...(readable ? [readable.condition] : []), ...active];
  const found = await read(
    project,
    collection.name,
    { condition: allOf(conditions), ...(readable?.joins && { joins: readable.joins }) },
    { projection: isUsers ? publicProfileProjection(collection) : {}, limit: ids.length },
    readable && !obeysRules(context) ? hintById(context) : undefined,
  );
  if (!found) return undefined;
  const known = new Map(found.map((raw) => [idIn(raw), shownOf(context, raw, includeDeleted, unreadable)]));
  return (id) => known.get(id) ?? (known.has(id) || mayReadAll(context) ? null : 'id');
};
