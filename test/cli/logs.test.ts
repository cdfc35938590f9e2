import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { handler as createDocument } from '../../functions/data/create-document.ts';
import { handler as getDocument } from '../../functions/data/get-document.ts';
import { newId } from '../../shared/core/ids.ts';
import { flushRefusals } from '../../shared/usage/rejected-requests.ts';
import { invoke } from '../support/clients/invoke.ts';
import { type CommandFolder, newLinkedFolder } from '../support/fixtures/command.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

process.env.USAGE_SECONDS = '10';

let project: TestProject;
let folder: CommandFolder;

interface Logged {
  readonly items: readonly { readonly code: string; readonly requestId: string }[];
  readonly notKept: number;
}

beforeAll(async () => {
  project = await newProject([{ name: 'notes', schema: [{ key: 'n', type: 'Number' }] }]);
  folder = await newLinkedFolder(project);
  await invoke(createDocument, {
    key: project.secretKey,
    method: 'POST',
    params: { collectionName: 'notes' },
    body: { n: 'seven' },
  });
  await flushRefusals();
  await missing();
});

afterAll(() => folder.remove());

afterEach(flushRefusals);

/** A request for a document that does not exist. */
const missing = async (): Promise<void> => {
  const params = { collectionName: 'notes', id: newId().toHexString() };
  expect((await invoke(getDocument, { key: project.secretKey, params })).status).toBe(404);
  await flushRefusals();
};

const read = async (...args: readonly string[]): Promise<Logged> =>
  JSON.parse((await folder.basalt(['logs', '--json', ...args])).out) as Logged;

describe('basalt logs', () => {
  test('prints rejected requests with the reason, the newest last, and no key', async () => {
    const { code, out } = await folder.basalt(['logs']);
    expect(code).toBe(0);
    expect(out).toMatch(
      /^\S+Z {2}400 VALIDATION_FAILED {2}POST \/api\/data\/notes\n {4}.+\n {4}fields: n\n {4}secret key, 192\.0\.2\.0\/24, \S+\n\S+Z {2}404 DOCUMENT_NOT_FOUND /,
    );
    expect(out).not.toMatch(/sk_live_|pk_live_/);
  });

  test('prints one JSON object with --json, and filters by code, route, user, time and number', async () => {
    const { items, notKept } = await read();
    expect({ codes: items.map(({ code }) => code), notKept }).toEqual({
      codes: ['VALIDATION_FAILED', 'DOCUMENT_NOT_FOUND'],
      notKept: 0,
    });
    const codes = async (...args: readonly string[]) => (await read(...args)).items.map(({ code }) => code);
    expect(await codes('--limit', '1')).toEqual(['DOCUMENT_NOT_FOUND']);
    expect(await codes('--code', 'VALIDATION_FAILED')).toEqual(['VALIDATION_FAILED']);
    expect(await codes('--route', 'GET /api/data/:collection/:id')).toEqual(['DOCUMENT_NOT_FOUND']);
    expect(await codes('--request-id', items[0]?.requestId ?? '')).toContain('VALIDATION_FAILED');
    expect(await codes('--request-id', 'unknown')).toEqual([]);
    expect(await codes('--user', newId().toHexString())).toEqual([]);
    expect(await codes('--since', new Date(Date.now() + 60_000).toISOString())).toEqual([]);
  });

  test.each([
    [['--limit', '0'], 'number from 1 to 1000'],
    [['--limit', '1001'], 'number from 1 to 1000'],
    [['--since', 'yesterday'], 'must be a time'],
    [['--every', 'x'], 'number of seconds'],
  ])('ends with 2 for %j', async (args, message) => {
    expect(await folder.basalt(['logs', ...args])).toMatchObject({ code: 2, notes: expect.stringContaining(message) });
  });

  test('prints each new request one time with --follow, and none that the limit left out', async () => {
    const stop = new AbortController();
    const ended = once(stop.signal, 'abort');
    const pieces: string[] = [];
    const following = folder.basalt(['logs', '--follow', '--every', '1', '--json', '--limit', '1'], {
      stop: stop.signal,
      onPrint: (text) => void pieces.push(text),
    });
    await expect.poll(() => pieces.length).toBe(1);
    await missing();
    await missing();
    await expect.poll(() => pieces.length, { timeout: 10_000 }).toBe(3);
    await missing();
    await expect.poll(() => pieces.length, { timeout: 10_000 }).toBe(4);
    stop.abort();
    await ended;
    const { code, out } = await following;
    expect(code).toBe(0);
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { _id: string; code: string });
    expect(new Set(lines.map(({ _id }) => _id)).size).toBe(4);
    expect(lines.every((line) => line.code === 'DOCUMENT_NOT_FOUND')).toBe(true);
  });
});
