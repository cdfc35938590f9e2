import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as confirmUpload } from '../../../functions/storage/confirm-upload.ts';
import { handler as deleteFile } from '../../../functions/storage/delete-file.ts';
import { handler as requestUpload } from '../../../functions/storage/request-upload.ts';
import { forgetProjects } from '../../../shared/collections/find-project-by-key.ts';
import { clock } from '../../../shared/core/clock.ts';
import { storageUsage } from '../../../shared/files/list-files.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { list } from '../../../shared/persistence/table.ts';
import { inParallel } from '../../support/clients/client.ts';
import { type InvokeOptions, invoke } from '../../support/clients/invoke.ts';
import { killAfter } from '../../support/faults/killed.ts';
import { loseFirstAnswers } from '../../support/faults/lost-answers.ts';
import { put } from '../../support/fixtures/files.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { storageProject } from '../../support/fixtures/storage-project.ts';

process.env.RATE_LIMIT = '1000000';
process.env.RATE_BLOCK = '1';

let project: TestProject;

beforeAll(async () => {
  project = await newProject();
});
afterEach(() => {
  vi.restoreAllMocks();
  forgetProjects();
});

const later = (seconds: number): void => {
  const now = Date.now() + seconds * 1000;
  vi.spyOn(clock, 'now').mockReturnValue(now);
  forgetProjects();
};

const newKey = (): string => randomBytes(9).toString('base64url');
const upload = { filename: 'notes.txt', contentType: 'text/plain', size: 5 };

const send = (handler: typeof requestUpload, idempotencyKey: string, body: unknown, more: InvokeOptions = {}) =>
  invoke(handler, {
    method: 'POST',
    key: project.secretKey,
    body,
    headers: { 'idempotency-key': idempotencyKey },
    ...more,
  });
const request = (key: string, body: object = upload) => send(requestUpload, key, body);
const confirm = (key: string, filePath: unknown) => send(confirmUpload, key, { filePath, size: 5 });

const held = async (): Promise<number> => (await storageUsage({ ...storageProject(), id: project.id })).held;

const unknown = { status: 409, body: { code: 'IDEMPOTENCY_OUTCOME_UNKNOWN' } };
const reused = { status: 409, body: { code: 'IDEMPOTENCY_KEY_REUSED' } };

type Answer = Awaited<ReturnType<typeof send>>;

/** Retries while the first request is running. */
const untilDone = async (ask: () => Promise<Answer>): Promise<Answer> => {
  const answer = await ask();
  if (answer.body.code !== 'IDEMPOTENCY_IN_PROGRESS') return answer;
  await pause(50);
  return untilDone(ask);
};

describe('an upload-request with an Idempotency-Key', () => {
  test('200 with another URL for the same path, and one reservation', async () => {
    const [key, before] = [newKey(), await held()];
    const first = await request(key);
    later(5);
    const again = await request(key);
    expect([first.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')]).toEqual([
      null,
      'true',
    ]);
    expect(again).toMatchObject({ status: 200, body: { filePath: first.body.filePath, name: first.body.name } });
    expect(again.body.signedUrl).not.toBe(first.body.signedUrl);
    expect(await held()).toBe(before + 5);
    expect(await put(String(again.body.signedUrl), 'hello')).toBe(200);
    expect((await confirm(newKey(), first.body.filePath)).status).toBe(200);
  });

  test('200 for 50 concurrent requests, which reserve one time', async () => {
    const [key, before] = [newKey(), await held()];
    const answers = await inParallel(50, () => untilDone(() => request(key)));
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect(new Set(answers.map(({ body }) => body.filePath)).size).toBe(1);
    expect(await held()).toBe(before + 5);
  });

  test('200 when the first response to each write is lost', async () => {
    const [key, before] = [newKey(), await held()];
    loseFirstAnswers();
    const [first, again] = [await request(key), await request(key)];
    vi.restoreAllMocks();
    expect([first.status, again.status, again.body.filePath]).toEqual([200, 200, first.body.filePath]);
    expect(await held()).toBe(before + 5);
  });

  test('200 and one reservation after a crash at any step', async () => {
    let passed = 0;
    for (let step = 0, finished = false; !finished; step += 1) {
      const [key, before] = [newKey(), await held()];
      const killed = killAfter(step);
      await request(key);
      finished = killed.hit() === undefined;
      vi.restoreAllMocks();
      passed += 36;
      later(passed);
      const answers = [await request(key), await request(key)];
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(answers[1]?.body.filePath).toBe(answers[0]?.body.filePath);
      expect(await held(), `step ${step}`).toBe(before + 5);
    }
  });

  test('200 with a URL that ends with the reservation', async () => {
    const key = newKey();
    await request(key);
    later(500);
    const again = await request(key);
    const seconds = Number(new URL(String(again.body.signedUrl)).searchParams.get('X-Amz-Expires'));
    expect(seconds).toBeGreaterThan(30);
    expect(seconds).toBeLessThanOrEqual(100);
  });

  test('409 IDEMPOTENCY_OUTCOME_UNKNOWN once the reservation is about to end, or the file is confirmed or deleted', async () => {
    const late = newKey();
    await request(late);
    later(590);
    expect(await request(late)).toMatchObject(unknown);
    vi.restoreAllMocks();
    const key = newKey();
    const { signedUrl, filePath } = (await request(key)).body;
    await put(String(signedUrl), 'hello');
    await confirm(newKey(), filePath);
    expect(await request(key)).toMatchObject(unknown);
    await invoke(deleteFile, { method: 'DELETE', key: project.secretKey, body: { path: filePath } });
    const before = await held();
    expect(await request(key)).toMatchObject(unknown);
    expect(await held()).toBe(before);
  });

  test('409 IDEMPOTENCY_KEY_REUSED for another file, and for another route', async () => {
    const key = newKey();
    const { filePath } = (await request(key)).body;
    expect(await request(key, { ...upload, size: 6 })).toMatchObject(reused);
    expect(await confirm(key, filePath)).toMatchObject(reused);
  });

  test('400 and 413 are kept', async () => {
    for (const [status, body] of [
      [400, { ...upload, size: 0 }],
      [413, { ...upload, size: 11 * 1024 * 1024 }],
    ] as const) {
      const key = newKey();
      const first = await request(key, body);
      expect(first.status).toBe(status);
      const again = await request(key, body);
      expect([again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([
        status,
        first.body,
        'true',
      ]);
    }
  });

  test('400 VALIDATION_FAILED for a malformed key', async () => {
    for (const key of ['', 'a b', 'x'.repeat(256)]) {
      const refused = { status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ field: 'Idempotency-Key' }] } };
      expect(await request(key)).toMatchObject(refused);
      expect(await confirm(key, 'x')).toMatchObject(refused);
    }
  });

  test('each user has keys of their own', async () => {
    const path = `/api/projects/${project.id}`;
    const uploads = { users: true, maxBytes: 1024 };
    expect((await project.developer.dashboard('PATCH', path, { uploads })).status).toBe(200);
    forgetProjects();
    const key = newKey();
    const as = async (user: string) =>
      send(requestUpload, key, upload, { key: project.publishableKey, token: await project.tokenFor(user) });
    const answers = [await as('ada'), await as('alan'), await as('ada'), await request(key)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const [ada, alan, again, server] = answers.map(({ body }) => body.filePath);
    expect(again).toBe(ada);
    expect(new Set([ada, alan, server]).size).toBe(3);
  });

  test('the table has no signature', async () => {
    const { signedUrl } = (await request(newKey())).body;
    const signature = new URL(String(signedUrl)).searchParams.get('X-Amz-Signature') ?? '';
    const items = JSON.stringify(await list({ partition: projectScope(project.id) }));
    expect([signature.length > 20, items.includes('idempotency#'), items.includes(signature)]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('an upload-confirm with an Idempotency-Key', () => {
  test('200 with the first response for each repeat, though the file is deleted by then', async () => {
    const { signedUrl, filePath } = (await request(newKey())).body;
    await put(String(signedUrl), 'hello');
    const key = newKey();
    const first = await confirm(key, filePath);
    expect(first.status).toBe(200);
    await invoke(deleteFile, { method: 'DELETE', key: project.secretKey, body: { path: filePath } });
    const again = await confirm(key, filePath);
    expect([again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([200, first.body, 'true']);
  });

  test('409 UPLOAD_NOT_READY frees its key', async () => {
    const { signedUrl, filePath } = (await request(newKey())).body;
    const key = newKey();
    for (let times = 0; times < 2; times += 1) {
      const early = await confirm(key, filePath);
      expect([early.status, early.body.code, early.headers.get('idempotent-replayed')]).toEqual([
        409,
        'UPLOAD_NOT_READY',
        null,
      ]);
    }
    await put(String(signedUrl), 'hello');
    expect((await confirm(key, filePath)).status).toBe(200);
  });

  test('200 after a crash at any step, and the size is charged one time', async () => {
    let passed = 0;
    for (let step = 0, finished = false; !finished; step += 1) {
      const { signedUrl, filePath } = (await request(newKey())).body;
      await put(String(signedUrl), 'hello');
      const [key, before] = [newKey(), await held()];
      const killed = killAfter(step);
      await confirm(key, filePath);
      finished = killed.hit() === undefined;
      vi.restoreAllMocks();
      passed += 36;
      later(passed);
      expect((await confirm(key, filePath)).status, `step ${step}`).toBe(200);
      expect(await held()).toBe(before);
      vi.restoreAllMocks();
      forgetProjects();
    }
  });

  test('404 FILE_NOT_FOUND is kept', async () => {
    const key = newKey();
    const first = await confirm(key, 'nothing');
    expect(first).toMatchObject({ status: 404, body: { code: 'FILE_NOT_FOUND' } });
    expect((await confirm(key, 'nothing')).headers.get('idempotent-replayed')).toBe('true');
  });
});
