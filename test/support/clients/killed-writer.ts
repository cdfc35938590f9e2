import { flushCompileCache } from 'node:module';
import { createInterface } from 'node:readline';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as createDocuments } from '../../../functions/data/create-documents.ts';
import { handler as deleteDocuments } from '../../../functions/data/delete-documents.ts';
import { handler as listDocuments } from '../../../functions/data/list-documents.ts';
import { handler as runBatch } from '../../../functions/data/run-batch.ts';
import { handler as updateDocuments } from '../../../functions/data/update-documents.ts';
import { permitAddresses } from '../../../infra/local/permit-addresses.ts';
import { clock } from '../../../shared/core/clock.ts';
import { runCollectionEffects } from '../../../shared/documents/effects/run-effects.ts';
import { commandChannel, type DatabaseCommand } from '../../../shared/persistence/mongo-commands.ts';
import { type InvokeOptions, invoke } from './invoke.ts';
import type { Acknowledged, KilledEffects, KilledRequest } from './killed-writes.ts';

// Reads a request or a job as one JSON line, and kills itself by SIGKILL immediately before one of the database commands
// that it sends, or before the response. Otherwise prints the response as one JSON line.
permitAddresses(process.env.PERMITTED_ADDRESSES);
// Node writes its compile cache when a process exits, which a killed one does not: each would compile all modules again.
flushCompileCache();

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

const warm = async (key: string, names: readonly string[]): Promise<void> => {
  for (const collectionName of names)
    await invoke(listDocuments, { key, params: { collectionName }, query: 'limit=1' });
};

const request = async ({ route, options, at, collections }: KilledRequest): Promise<Acknowledged> => {
  const { key = '' }: InvokeOptions = options;
  await warm(key, collections);
  left = at;
  const { status, body } = await invoke(handlers[route], options);
  return { status, body };
};

const runJob = async ({ projectId, name, aheadMs, key, at }: KilledEffects): Promise<Acknowledged> => {
  await warm(key, [name]);
  const { now } = clock;
  clock.now = () => now() + aheadMs;
  left = at;
  await runCollectionEffects(projectId, name);
  return { status: 200, body: {} };
};

for await (const line of createInterface({ input: process.stdin })) {
  const asked: KilledRequest | KilledEffects = JSON.parse(line);
  // The first commands fill caches and open connections.
  const acknowledged = await ('route' in asked ? request(asked) : runJob(asked));
  step();
  process.stdout.write(`${JSON.stringify({ acknowledged })}\n`);
}
process.exit(0);
