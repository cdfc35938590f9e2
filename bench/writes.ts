/**
 * `node bench/writes.ts [rounds] [name]`: the CPU of this process and of MongoDB that a write costs, as a ratio to the
 * plain write that it replaces: an operator to an update of a field, a batch of 10 inserts to a bulk insert of 10, an
 * insert with effects (one `set`, one write) to a plain insert. Its floor is a plain insert with the two other commands
 * sent by the driver alone: finding the product by its id, and updating it if its stock allows.
 * The handlers run in this process, the two of a pair in turns.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MongoClient, ObjectId } from 'mongodb';
import { handler as createDocument } from '../functions/data/create-document.ts';
import { handler as createDocuments } from '../functions/data/create-documents.ts';
import { handler as runBatch } from '../functions/data/run-batch.ts';
import { handler as updateDocument } from '../functions/data/update-document.ts';
import { LambdaContext } from '../infra/local/in-process.ts';
import { parseSettings } from '../infra/local/settings.ts';
import { startStack } from '../infra/local/stack.ts';
import { projectDatabaseName } from '../shared/persistence/mongo.ts';
import { findBacking } from './processes.ts';
import { endProgress, progress } from './progress.ts';
import { sampleDocument } from './samples.ts';
import { makeBed } from './seed.ts';
import { median } from './statistics.ts';

const [rounds = '30', only = ''] = process.argv.slice(2);
const parallel = 4;

type Send = (index: number) => Promise<unknown>;

interface Pair {
  readonly name: string;
  readonly write: Send;
  readonly than: string;
  readonly plain: Send;
  readonly requestsARound: number;
}

const operators: Readonly<Record<string, (index: number) => object>> = {
  $inc: () => ({ $inc: { likes: 1 } }),
  $mul: () => ({ $mul: { likes: 1 } }),
  $min: (index) => ({ $min: { likes: index } }),
  $max: (index) => ({ $max: { likes: index } }),
  $addToSet: () => ({ $addToSet: { tags: 'first' } }),
  $unset: () => ({ $unset: ['none'] }),
};

const directory = await mkdtemp(path.join(tmpdir(), 'basalt-writes-'));
const stack = await startStack({
  ...parseSettings({ RATE_LIMIT: '0', LOG: 'silent', BASALT_DIR: directory }),
  port: 0,
  report: progress,
  onFailure: (detail) => {
    console.error(detail);
    process.exit(1);
  },
});
const backing = findBacking();
Object.assign(process.env, stack.env);

try {
  const bed = await makeBed(stack.dashboardUrl, ['posts']);
  const headers = { 'x-api-key': bed.secretKey, 'content-type': 'application/json' };
  const http = { method: 'PATCH', path: '/', sourceIp: '127.0.0.1', userAgent: '' };
  const event = { version: '2.0', rawQueryString: '', headers, requestContext: { http, requestId: 'bench' } };
  const send = async (handler: unknown, params: object, body: unknown): Promise<string> => {
    const request = { ...event, pathParameters: params, body: JSON.stringify(body) };
    const response = await (handler as CallableFunction)(request, new LambdaContext('bench'));
    if (response.statusCode >= 300) throw new Error(`${response.statusCode} ${response.body}`);
    return response.body;
  };
  const posts = { collectionName: 'posts' };
  const { _id: id } = JSON.parse(await send(createDocument, posts, sampleDocument(0)));
  const update = (body: object) => send(updateDocument, { ...posts, id }, body);
  const ten = (index: number) => Array.from({ length: 10 }, (_, at) => sampleDocument(index * 10 + at));
  const inserts = (index: number) => ten(index).map((document) => ({ op: 'insert', collection: 'posts', document }));
  const collection = (name: string, effects: readonly object[]) =>
    bed.dashboard('POST', `/api/projects/${bed.projectId}/collections`, {
      name,
      schema: [
        { key: 'product', type: 'Ref', ref: 'products' },
        { key: 'quantity', type: 'Number' },
        { key: 'total', type: 'Number' },
      ],
      effects,
    });
  await bed.dashboard('POST', `/api/projects/${bed.projectId}/collections`, {
    name: 'products',
    schema: ['price', 'stock'].map((key) => ({ key, type: 'Number', min: 0 })),
  });
  await collection('plain', []);
  await collection('orders', [
    {
      on: 'create',
      set: { total: { $multiply: [{ $doc: 'product.price' }, { $doc: 'quantity' }] } },
      writes: [{ op: 'update', collection: 'products', id: { $doc: 'product' }, changes: { $inc: { stock: -1 } } }],
    },
  ]);
  const products = Array.from({ length: parallel }, () => ({ price: 2, stock: 1e9 }));
  const { ids } = JSON.parse(await send(createDocuments, { collectionName: 'products' }, products)).data;
  const order = (collectionName: string, index: number) =>
    send(createDocument, { collectionName }, { product: ids[index % parallel], quantity: 1, total: 2 });
  const driver = new MongoClient(stack.env.MONGODB_URI ?? '', { writeConcern: { w: 'majority', journal: true } });
  const database = driver.db(projectDatabaseName(bed.projectId));
  const floor = async (index: number) => {
    const _id = new ObjectId(String(ids[index % parallel]));
    await database.command({ find: 'products', filter: { _id }, limit: 1, singleBatch: true });
    await order('plain', index);
    const update = { $inc: { stock: -1, _rev: 1 }, $set: { updatedAt: new Date() } };
    await database.collection('products').findOneAndUpdate({ _id, stock: { $gte: 1 } }, update);
  };
  const pairs: readonly Pair[] = [
    {
      name: 'an insert with effects',
      write: (index) => order('orders', index),
      than: 'a plain insert',
      plain: (index) => order('plain', index),
      requestsARound: 400,
    },
    {
      name: 'the floor of an insert with effects',
      write: floor,
      than: 'a plain insert',
      plain: (index) => order('plain', index),
      requestsARound: 400,
    },
    ...Object.entries(operators).map(([name, bodyOf]) => ({
      name,
      write: (index: number) => update(bodyOf(index)),
      than: 'a plain update',
      plain: (index: number) => update({ likes: index }),
      requestsARound: 400,
    })),
    {
      name: 'a batch of 10 inserts',
      write: (index) => send(runBatch, {}, { writes: inserts(index) }),
      than: 'a bulk insert of 10',
      plain: (index) => send(createDocuments, posts, ten(index)),
      requestsARound: 100,
    },
  ];
  /** µs of a request: of this process and of the engine. */
  const cpuOf = async (request: Send, requests: number): Promise<number> => {
    const [before, engine] = [process.cpuUsage(), backing?.engine() ?? 0];
    let next = 0;
    const some = async (): Promise<void> => {
      while (next < requests) await request(next++);
    };
    await Promise.all(Array.from({ length: parallel }, some));
    const { user, system } = process.cpuUsage(before);
    return (user + system + (backing?.engine() ?? 0) - engine) / requests;
  };
  for (const { name, write, than, plain, requestsARound } of pairs) {
    if (!name.includes(only)) continue;
    const ratios: number[] = [];
    const plains: number[] = [];
    for (let round = 0; round < Number(rounds) + 3; round++) {
      progress(`${name}: round ${round}`);
      const isFirst = round % 2 === 0;
      const before = isFirst ? await cpuOf(write, requestsARound) : undefined;
      const base = await cpuOf(plain, requestsARound);
      const cost = before ?? (await cpuOf(write, requestsARound));
      if (round < 3) continue;
      ratios.push(cost / base);
      plains.push(base);
    }
    endProgress();
    ratios.sort((a, b) => a - b);
    const at = (share: number): string => (ratios[Math.floor(ratios.length * share)] ?? 0).toFixed(3);
    console.log(
      `${name}: ${median(ratios).toFixed(3)} of ${than} (${median(plains).toFixed(0)} µs); half of the rounds ${at(0.25)} to ${at(0.75)}`,
    );
  }
} finally {
  await stack.stop();
  await rm(directory, { recursive: true, force: true });
}
process.exit(0);
