/**
 * The yardstick: `node:http` and the clients of the databases, doing only the operation itself, on the same engines with the
 * same durability. What a hand-written server for this one project could reach.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Collection, type Document, MongoClient, ObjectId } from 'mongodb';
import { bareAccounts } from './bare-accounts.ts';
import { bareFiles } from './bare-files.ts';
import { bareMail } from './bare-mail.ts';

const { MONGODB_URI = '', BENCH_DATABASE = '' } = process.env;
const client = new MongoClient(MONGODB_URI, { maxPoolSize: 5, writeConcern: { w: 'majority', journal: true } });
const database = client.db(BENCH_DATABASE);

const readBody = (request: IncomingMessage): Promise<Document> =>
  new Promise((resolve, reject) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => resolve(JSON.parse(text) as Document));
    request.on('error', reject);
  });

const insert = async (documents: Collection, body: Document): Promise<Document> => {
  const now = new Date();
  const document = { ...body, isDeleted: false, deletedAt: null, createdAt: now, updatedAt: now };
  const { insertedId } = await documents.insertOne(document);
  return { ...document, _id: insertedId };
};

const list = async (documents: Collection, query: URLSearchParams): Promise<Document> => {
  const author = query.get('author');
  const limit = Number(query.get('limit') ?? 100);
  const filter = author === null ? { isDeleted: { $ne: true } } : { author, isDeleted: { $ne: true } };
  const page = documents.find(filter).sort({ _id: -1 }).limit(limit).toArray();
  if (author !== null) return { items: await page };
  const [items, total] = await Promise.all([page, documents.estimatedDocumentCount()]);
  return { items, total };
};

const answer = async (request: IncomingMessage): Promise<unknown> => {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const [, , area, name = '', id] = path.split('/');
  if (area === 'userAuth') return bareAccounts(database, name, request.headers, () => readBody(request));
  if (area === 'storage') return bareFiles(name, await readBody(request));
  if (area === 'mail') return bareMail(database, await readBody(request));
  const documents = database.collection(name);
  switch (request.method) {
    case 'POST':
      return insert(documents, await readBody(request));
    case 'PATCH':
      return documents.findOneAndUpdate(
        { _id: new ObjectId(id) },
        { $set: { ...(await readBody(request)), updatedAt: new Date() } },
        { returnDocument: 'after' },
      );
    case 'DELETE':
      return documents.updateOne({ _id: new ObjectId(id) }, { $set: { isDeleted: true, deletedAt: new Date() } });
    default:
      return id ? documents.findOne({ _id: new ObjectId(id) }) : list(documents, new URLSearchParams(query));
  }
};

const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  try {
    const body = JSON.stringify(await answer(request));
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      .end(body);
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
};

await client.connect();
const server = createServer((request, response) => void respond(request, response));
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as { port: number }).port }));
process.on('message', () => process.send?.({ cpu: process.cpuUsage() }));
process.on('disconnect', () => process.exit(0));
