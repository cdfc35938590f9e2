import { createInterface } from 'node:readline';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as createDocuments } from '../../../functions/data/create-documents.ts';
import { handler as deleteDocuments } from '../../../functions/data/delete-documents.ts';
import { handler as listDocuments } from '../../../functions/data/list-documents.ts';
import { handler as runBatch } from '../../../functions/data/run-batch.ts';
import { handler as updateDocuments } from '../../../functions/data/update-documents.ts';
import { permitAddresses } from '../../../infra/local/permit-addresses.ts';
import { commandChannel, type DatabaseCommand } from '../../../shared/persistence/mongo-commands.ts';
import { type InvokeOptions, invoke } from './invoke.ts';
import type { KilledRequest } from './killed-writes.ts';

// Reads a request as one JSON line, and kills itself by SIGKILL immediately before one of the database commands that
// the request sends, or before the response. Otherwise prints the response as one JSON line.
permitAddresses(process.env.PERMITTED_ADDRESSES);

const handlers = { createDocument, createDocuments, deleteDocuments, runBatch, updateDocuments };
const housekeeping = new Set(['hello', 'ismaster', 'ping', 'endSessions', 'saslStart', 'saslContinue']);

let left = Number.POSITIVE_INFINITY;
const step = (): void => {
  if (left === 0) process.kill(process.pid, 'SIGKILL');
  left -= 1;
};
commandChannel.subscribe((message) => {
  if (!housekeeping.has((message as DatabaseCommand).name)) step();
});

for await (const line of createInterface({ input: process.stdin })) {
  const { route, options, at, collections }: KilledRequest = JSON.parse(line);
  const { key = '' }: InvokeOptions = options;
  // Fills caches and opens connections.
  for (const collectionName of collections)
    await invoke(listDocuments, { key, params: { collectionName }, query: 'limit=1' });
  left = at;
  const { status, body } = await invoke(handlers[route], options);
  step();
  process.stdout.write(`${JSON.stringify({ acknowledged: { status, body } })}\n`);
}
process.exit(0);
