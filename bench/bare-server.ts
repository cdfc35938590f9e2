/**
 * The baseline: `node:http` and the database clients, with only the operation itself, on the same databases with the
 * same durability. A hand-written server for this one project could reach this speed.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Document, MongoClient } from 'mongodb';
import { answerMain } from './answer-main.ts';
import { bareAccounts } from './bare-accounts.ts';
import { bareDocuments } from './bare-documents.ts';
import { bareFiles } from './bare-files.ts';
import { bareMail, bareMailBatch } from './bare-mail.ts';
import { bareMailLogs, bareProjects } from './bare-projects.ts';

const { MONGODB_URI = '', BENCH_DATABASE = '', CONTROL_DATABASE = 'control' } = process.env;
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

const answer = async (request: IncomingMessage): Promise<unknown> => {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const [, , area, name = '', id] = path.split('/');
  if (area === 'userAuth') return bareAccounts(database, name, request.headers, () => readBody(request));
  if (area === 'storage') return bareFiles(name, await readBody(request));
  if (area === 'mail') {
    const body = await readBody(request);
    return name === 'send-batch' ? bareMailBatch(database, body as Document[]) : bareMail(database, body);
  }
  if (area === 'projects') {
    const answerer = name === 'logs' ? bareMailLogs : bareProjects;
    return answerer(client.db(CONTROL_DATABASE), new URLSearchParams(query));
  }
  return bareDocuments(database, { method: request.method, name, id, query }, () => readBody(request));
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
server.listen(0, '127.0.0.1', () => answerMain(server));
