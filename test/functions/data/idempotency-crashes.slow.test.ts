import { randomBytes } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as createDocuments } from '../../../functions/data/create-documents.ts';
import { handler as updateDocument } from '../../../functions/data/update-document.ts';
import { forgetProjects } from '../../../shared/collections/find-project-by-key.ts';
import { clock } from '../../../shared/core/clock.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import { type InvokeOptions, invoke } from '../../support/clients/invoke.ts';
import { killAfter } from '../../support/faults/killed.ts';
import { newProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

process.env.RATE_LIMIT = '1000000';
process.env.RATE_BLOCK = '1';

const newKey = (): string => randomBytes(9).toString('base64url');

/** A request of each kind on documents with this mark. */
const requests = {
  insert: { handler: createDocument, of: (mark: string) => ({ body: { mark } }), documents: 1 },
  bulk: { handler: createDocuments, of: (mark: string) => ({ body: [{ mark }, { mark }] }), documents: 2 },
  update: {
    handler: updateDocument,
    of: (_mark: string, id: string) => ({ method: 'PATCH', params: { id }, body: { changed: true } }),
    documents: 1,
  },
} as const;
const kinds = ['insert', 'bulk', 'update'] as const;

afterEach(() => {
  vi.restoreAllMocks();
});

test('200 crashes at random steps lose no acknowledged write and repeat none', async () => {
  const project = await newProject([{ name: 'notes' }]);
  const domain = await domainProject(project);
  const ends = new Map<string, number>();
  let passedMs = 0;
  for (let crash = 0; crash < 200; crash++) {
    const [key, mark, kind] = [newKey(), newKey(), kinds[crash % 3] ?? 'insert'];
    const { handler, of, documents } = requests[kind];
    const made = kind === 'update' ? await project.api('POST', '/api/data/notes', { body: { mark } }) : undefined;
    const { params = {}, ...options }: InvokeOptions = of(mark, String(made?.body._id));
    const send = () =>
      invoke(handler, {
        method: 'POST',
        key: project.secretKey,
        headers: { 'idempotency-key': key },
        ...options,
        params: { collectionName: 'notes', ...params },
      });
    const killed = killAfter(Math.floor(Math.random() * 6));
    const { status } = await send();
    const hit = killed.hit();
    vi.restoreAllMocks();
    if (hit === undefined) expect(status).toBeLessThan(300);
    // Longer than any function may run.
    passedMs += 36_000;
    vi.spyOn(clock, 'now').mockReturnValue(Date.now() + passedMs);
    forgetProjects();
    const { status: last, body } = await send();
    const stored = await onProject(domain, (db) => db.collection('notes').find({ mark }).toArray());
    expect(stored).toHaveLength(documents);
    if (last === 409) expect([kind, body.code]).toEqual(['update', 'IDEMPOTENCY_OUTCOME_UNKNOWN']);
    else expect([last, stored[0]?.changed === true]).toEqual(kind === 'update' ? [200, true] : [201, false]);
    ends.set(`${kind} ${last} ${hit === undefined}`, 1);
  }
  expect([...ends.keys()].sort()).toEqual([
    'bulk 201 false',
    'bulk 201 true',
    'insert 201 false',
    'insert 201 true',
    'update 200 false',
    'update 200 true',
    'update 409 false',
  ]);
});
