import { type Collection, type Db, type Document, ObjectId, Timestamp } from 'mongodb';
import { writers } from './seed.ts';

/** The parts of `/api/data/<name>/<id>?<query>`; `id` may be `bulk`, `aggregate` or `changes`. */
export interface DocumentRequest {
  readonly method: string | undefined;
  readonly name: string;
  readonly id: string | undefined;
  readonly query: string;
}

const stored = (body: Document): Document => {
  const now = new Date();
  return { ...body, isDeleted: false, deletedAt: null, createdAt: now, updatedAt: now };
};

const insert = async (documents: Collection, body: Document): Promise<Document> => {
  const document = stored(body);
  const { insertedId } = await documents.insertOne(document);
  return { ...document, _id: insertedId };
};

const insertAll = async (documents: Collection, bodies: readonly Document[]): Promise<Document> => {
  const { insertedCount, insertedIds } = await documents.insertMany(bodies.map(stored));
  return { insertedCount, ids: Object.values(insertedIds) };
};

const isThere = { isDeleted: { $ne: true } };
const newest = { _id: -1 } as const;

/** A page with the documents that it refers to, in one command. */
const populated = (documents: Collection, field: string, limit: number): Promise<Document[]> =>
  documents
    .aggregate([
      { $match: isThere },
      { $sort: newest },
      { $limit: limit },
      { $lookup: { from: writers, localField: field, foreignField: '_id', as: field } },
      { $set: { [field]: { $first: `$${field}` } } },
    ])
    .toArray();

const list = async (documents: Collection, query: URLSearchParams): Promise<Document> => {
  const author = query.get('author');
  const populate = query.get('populate');
  const limit = Number(query.get('limit') ?? 100);
  const where = query.get('where');
  if (where !== null) {
    const found = documents.find({ ...JSON.parse(where), ...isThere });
    return { items: await found.sort(newest).limit(limit).toArray() };
  }
  const words = query.get('search');
  if (words !== null) {
    const found = documents.find({ $text: { $search: words }, ...isThere });
    return {
      items: await found
        .sort({ score: { $meta: 'textScore' }, ...newest })
        .limit(limit)
        .toArray(),
    };
  }
  const filter = author === null ? isThere : { author, ...isThere };
  const page = populate
    ? populated(documents, populate, limit)
    : documents.find(filter).sort(newest).limit(limit).toArray();
  if (author !== null) return { items: await page };
  const [items, total] = await Promise.all([page, documents.estimatedDocumentCount()]);
  return { items, total };
};

/** The documents written since an operation time of MongoDB, and the time of the last one. */
const changesOf = async (documents: Collection, query: URLSearchParams): Promise<Document> => {
  const after = Timestamp.fromString(query.get('since') ?? '0', 10);
  const found = documents.find({ _pos: { $gt: after } }).sort({ _pos: 1 });
  const items = await found.limit(Number(query.get('limit') ?? 100)).toArray();
  return { items, next: String(items.at(-1)?._pos ?? after) };
};

/** Document routes of a hand-written server: one command, or two in parallel for a page and its total. */
export const bareDocuments = async (
  database: Db,
  { method, name, id, query }: DocumentRequest,
  body: () => Promise<Document>,
): Promise<unknown> => {
  const documents = database.collection(name);
  switch (method) {
    case 'POST':
      if (id === 'bulk') return insertAll(documents, (await body()) as Document[]);
      if (id === 'aggregate') return documents.aggregate([{ $match: isThere }, ...(await body()).pipeline]).toArray();
      return insert(documents, await body());
    case 'PATCH':
      return documents.findOneAndUpdate(
        { _id: new ObjectId(id) },
        { $set: { ...(await body()), updatedAt: new Date() } },
        { returnDocument: 'after' },
      );
    case 'DELETE':
      return documents.updateOne({ _id: new ObjectId(id) }, { $set: { isDeleted: true, deletedAt: new Date() } });
    default:
      if (id === 'changes') return changesOf(documents, new URLSearchParams(query));
      return id ? documents.findOne({ _id: new ObjectId(id) }) : list(documents, new URLSearchParams(query));
  }
};
