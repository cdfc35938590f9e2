import type { Db, Document as MongoDocument } from 'mongodb';
import { AppError } from '../../core/errors.ts';
import { JsonText } from '../../core/json.ts';
import { hasCode } from '../../persistence/mongo-errors.ts';
import { deserialize, findRaw, rawBatches, settled } from '../../persistence/raw-documents.ts';
import type { Project } from '../../projects/project.ts';
import type { Document } from '../document.ts';
import { boundOf, type Measured, measured, PageBudget } from '../page-size.ts';
import { sendable, wireDocument } from '../wire.ts';
import { boundedQuery } from './bounded-query.ts';
import { allOf, matching, type Selection } from './condition.ts';
import { afterPosition, type Ids } from './cursor.ts';
import { type IndexHint, withHint } from './index-hint.ts';
import type { ListQuery } from './list-query.ts';
import { presentProjected, textOf, toProjection, type Wanted } from './projection.ts';
import {
  afterBySortKey,
  bestFirst,
  isById,
  isolatedPage,
  needsSortKey,
  type Sort,
  sortKeyField,
  sortKeyOf,
  toMongoSort,
  withPatterns,
} from './sort.ts';

/** A document of a page as MongoDB's bytes. Other forms are made on demand, once. */
export class Row implements Measured {
  readonly atMost: number;
  readonly #project: Pick<Project, 'placement'>;
  readonly #raw: Uint8Array;
  readonly #wanted: Wanted;
  readonly #hasKey: boolean;
  readonly #stored: MongoDocument | undefined;
  #document: Document | undefined;
  #text: JsonText | undefined;
  #exact: number | undefined;

  /** `hasKey`: it includes MongoDB's sort key. `stored`: its decoded bytes, if known. */
  constructor(
    project: Pick<Project, 'placement'>,
    raw: Uint8Array,
    wanted: Wanted,
    hasKey: boolean,
    stored?: MongoDocument,
  ) {
    this.atMost = boundOf(raw.byteLength);
    this.#project = project;
    this.#raw = raw;
    this.#wanted = wanted;
    this.#hasKey = hasKey;
    this.#stored = stored;
  }

  get document(): Document {
    if (!this.#document) {
      const { [sortKeyField]: _key, ...stored } = this.#stored ?? deserialize(this.#raw);
      this.#document = presentProjected(wireDocument(stored) as Document, this.#wanted);
    }
    return this.#document;
  }

  get text(): JsonText {
    this.#text ??= this.#hasKey
      ? new JsonText(JSON.stringify(this.document))
      : textOf(this.#project, this.#raw, this.#wanted);
    return this.#text;
  }

  /** MongoDB's sort key of the document. */
  get position(): readonly unknown[] {
    const { [sortKeyField]: key, _id } = deserialize(this.#raw);
    return this.#hasKey ? (key as readonly unknown[]) : [_id];
  }

  exact(): number {
    this.#exact ??= measured(this.text);
    return this.#exact;
  }
}

/** A list, with the fields that the caller may not read. With `isSettled` it reads what no failure can roll back. */
type RowQuery = ListQuery & Pick<Wanted, 'unreadable'> & { readonly isSettled?: boolean };

/** The documents of one page, in order. */
export interface RowPage {
  readonly rows: readonly Row[];
  /** The page was cut because of its size, before its limit. */
  readonly cut: boolean;
  /** At least one more document follows. Only known if one more than `limit` was requested. */
  readonly more: boolean;
}

/** MongoDB cannot sort by two arrays at the same time. */
const orParallelArrays = (cause: unknown, sort: Sort): unknown => {
  if (!hasCode(cause, 2) || sort.length <= 2) return cause;
  const message = 'sort: two of these fields hold arrays, and documents cannot be sorted by two arrays.';
  return new AppError('INVALID_QUERY', message, { cause });
};

/** The documents of a page as they arrive, and whether they include their sort keys. */
interface Opened {
  readonly batches: AsyncIterable<readonly Uint8Array[]>;
  readonly hasKeys: boolean;
}

/** Reads documents in batches until the page is full, so that memory stays bounded. */
const takePage = async (project: Project, { batches, hasKeys }: Opened, query: RowQuery): Promise<RowPage> => {
  const rows: Row[] = [];
  const budget = new PageBudget();
  for await (const batch of batches) {
    for (const raw of batch) {
      if (rows.length === query.limit) return { rows, cut: false, more: true };
      const row = new Row(project, raw, query, hasKeys);
      if (!budget.add(row) && rows.length > 0) return { rows, cut: true, more: true };
      rows.push(row);
    }
  }
  return { rows, cut: false, more: false };
};

/** Of equal scores the newer document comes first. */
const byTextScore = new Map<string, 1 | -1 | { readonly $meta: 'textScore' }>([
  ['score', { $meta: 'textScore' }],
  ['_id', -1],
]);

/** The documents after a position, decided after the barrier like all other conditions of the caller. */
const isolatedAfter = (
  selection: Selection,
  sort: Sort,
  position: readonly unknown[] | undefined,
  ids: Ids,
): Selection => {
  if (!position) return selection;
  if (needsSortKey(sort, position)) {
    const message =
      'sort: rules hide documents of this collection, so this order cannot be walked by cursor. Use page.';
    throw new AppError('INVALID_QUERY', message);
  }
  const after = afterPosition(sort, position, ids);
  if (isById(sort)) return { ...selection, conditions: [...selection.conditions, after] };
  return { ...selection, afterwards: [after, ...selection.afterwards] };
};

const open = (
  db: Db,
  name: string,
  selection: Selection,
  query: RowQuery,
  position: readonly unknown[] | undefined,
  ids: Ids,
  hint: { readonly hint?: IndexHint },
  maxTimeMS: number,
): Opened => {
  const { sort } = query;
  const limit = query.cursor === undefined ? query.limit : query.limit + 1;
  const skip = query.cursor === undefined ? query.skip : 0;
  const projection = toProjection(query);
  const from = query.isSettled ? settled : {};
  const piped = (stages: MongoDocument[], hasKeys = true): Opened => {
    const shown = { ...projection, ...(query.fields && hasKeys ? { [sortKeyField]: 1 } : {}) };
    const shape = Object.keys(shown).length > 0 ? [{ $project: shown }] : [];
    const options = { batchSize: limit, maxTimeMS, raw: true, ...hint, ...from };
    return { batches: rawBatches(db.collection(name).aggregate([...stages, ...shape], options)), hasKeys };
  };
  if (selection.isolated)
    return piped(isolatedPage(isolatedAfter(selection, sort, position, ids), sort, { skip, limit }), false);
  if (position && needsSortKey(sort, position)) return piped(afterBySortKey(selection, sort, position, limit));
  const conditions = position ? [...selection.conditions, afterPosition(sort, position, ids)] : selection.conditions;
  if (selection.best?.score) return piped(bestFirst(selection, selection.best.score, { skip, limit }));
  if (selection.afterwards.length > 0) return piped(withPatterns({ ...selection, conditions }, sort, { skip, limit }));
  // Only a cursor needs the end of a page.
  const keys = query.cursor === undefined ? {} : sortKeyOf(sort);
  const order = selection.best ? byTextScore : toMongoSort(sort);
  const find = { sort: order, projection: { ...projection, ...keys }, skip, limit, maxTimeMS, ...hint, ...from };
  return { batches: findRaw(db, name, allOf(conditions), find), hasKeys: Object.keys(keys).length > 0 };
};

/**
 * Reads a page with one command: at most `query.limit` documents and 5 MiB of JSON, and always the first document.
 * With a cursor the page begins after `position`, and one more document is requested to know whether the list
 * continues.
 */
export const findRows = (
  project: Project,
  collectionName: string,
  selection: Selection,
  query: RowQuery,
  position?: readonly unknown[],
): Promise<RowPage> =>
  boundedQuery(
    project,
    collectionName,
    () => ['page', selection, query, position],
    async (db, maxTimeMS) => {
      const ids = project.placement.kind === 'managed' ? 'ours' : 'any';
      try {
        return await withHint(selection.hint, (hint) =>
          takePage(project, open(db, collectionName, selection, query, position, ids, hint, maxTimeMS), query),
        );
      } catch (error) {
        throw orParallelArrays(error, query.sort);
      }
    },
  );

/** The sort key of a document that a cursor names, if `selection` lets the caller know of it. */
export const findPosition = (
  project: Project,
  collectionName: string,
  { conditions, joins, hint }: Selection,
  sort: Sort,
): Promise<readonly unknown[] | undefined> =>
  boundedQuery(
    project,
    collectionName,
    () => ['position', conditions],
    async (db, maxTimeMS) => {
      const documents = db.collection(collectionName);
      const options = { sort: toMongoSort(sort), projection: { _id: 1, ...sortKeyOf(sort) }, maxTimeMS };
      const found = await withHint(hint, async (named) => {
        if (!joins) return documents.findOne(allOf(conditions), { ...options, ...named });
        // MongoDB gives no sort key after a join, so a second command reads it.
        const [known] = await documents.aggregate(matching(allOf(conditions), joins), { maxTimeMS }).toArray();
        return known && documents.findOne({ _id: known._id }, options);
      });
      if (!found) return undefined;
      return (isById(sort) ? [found._id] : (found[sortKeyField] as readonly unknown[])).map(sendable);
    },
  );
