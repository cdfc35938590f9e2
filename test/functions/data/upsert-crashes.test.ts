import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as createDocuments } from '../../../functions/data/create-documents.ts';
import { forgetProjects } from '../../../shared/collections/find-project-by-key.ts';
import { clock } from '../../../shared/core/clock.ts';
import type { LambdaHandler } from '../../../shared/http/stack.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { killAfter } from '../../support/faults/killed.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

listenToCommands();
process.env.RATE_LIMIT = '1000000';
process.env.RATE_BLOCK = '1';

let project: TestProject;

beforeAll(async () => {
  project = await newProject([{ name: 'items', schema: [{ key: 'sku', type: 'String', unique: true }] }]);
});
afterEach(() => {
  vi.restoreAllMocks();
  forgetProjects();
});

const send = (handler: LambdaHandler, body: unknown, key?: string) =>
  invoke(handler, {
    method: 'POST',
    key: project.secretKey,
    params: { collectionName: 'items' },
    query: 'onConflict=sku',
    body,
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  });

const stored = async (sku: string) =>
  onProject(await domainProject(project), (db) => db.collection('items').find({ sku }).toArray());

describe.each([
  ['an upsert', createDocument, (sku: string) => ({ sku, mark: 'x' })],
  ['a bulk upsert', createDocuments, (sku: string) => [{ sku, mark: 'x' }]],
] as const)('%s with an Idempotency-Key', (_what, handler, bodyOf) => {
  test.each([false, true])(
    'is applied exactly once after a crash at any step; the document exists before: %s',
    async (isThere) => {
      let passed = 0;
      const ends = new Set<string>();
      for (let step = 0, finished = false; !finished; step += 1) {
        const [sku, key] = [randomUUID(), randomUUID()];
        if (isThere) await send(createDocument, { sku });
        const killed = killAfter(step);
        const first = await send(handler, bodyOf(sku), key);
        finished = killed.hit() === undefined;
        vi.restoreAllMocks();
        // Longer than any function may run.
        passed += 36;
        const now = Date.now() + passed * 1000;
        vi.spyOn(clock, 'now').mockReturnValue(now);
        forgetProjects();
        const last = await send(handler, bodyOf(sku), key);
        ends.add(`${last.status} ${last.body.code ?? ''}`.trim());
        const found = await stored(sku);
        expect(found, `step ${step}`).toHaveLength(1);
        // It is never updated twice, and an acknowledged write is stored.
        expect(found[0]?._rev).toBeLessThanOrEqual(isThere ? 2 : 1);
        if (first.status < 300 || last.status < 300) expect(found[0]?.mark).toBe('x');
      }
      expect(
        [...ends].filter((end) => end !== '200' && end !== '201' && end !== '409 IDEMPOTENCY_OUTCOME_UNKNOWN'),
      ).toEqual([]);
      expect(ends.size).toBeGreaterThan(0);
    },
  );
});

test('an upsert costs one search and one write, and a bulk upsert one more search for each update', async () => {
  // A stopped clock keeps cached lookups from being repeated in between.
  vi.spyOn(clock, 'now').mockReturnValue(Date.now());
  const sku = randomUUID();
  await send(createDocument, { sku: randomUUID() });
  const count = 'dynamodb UpdateItemCommand';
  expect(await commandsOf(() => send(createDocument, { sku }))).toEqual([count, 'mongodb find', 'mongodb insert']);
  expect(await commandsOf(() => send(createDocument, { sku }))).toEqual([
    count,
    'mongodb find',
    'mongodb findAndModify',
  ]);
  const many = await commandsOf(() => send(createDocuments, [{ sku }, { sku: randomUUID() }]));
  // A joint run reads the document of an update, so that the update can be undone.
  expect(many.filter((command) => command.startsWith('mongodb'))).toEqual([
    'mongodb find',
    'mongodb find',
    'mongodb findAndModify',
    'mongodb insert',
  ]);
});
