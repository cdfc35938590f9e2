import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bundled, bundled } from '../../infra/local/bundled.ts';

/** Bundles in miniature: what a function can do to its process. */
const sources = {
  echo: `export const handler = async (event, context) => ({ statusCode: 200, body: JSON.stringify({ event, pid: process.pid,
    task: process.env.LAMBDA_TASK_ROOT, setting: process.env.SETTING, home: process.env.HOME, left: context.getRemainingTimeInMillis() }) });`,
  // Responds when two of these requests have arrived.
  overlaps: `import { readdirSync, writeFileSync } from 'node:fs';
    const folder = process.env.LAMBDA_TASK_ROOT;
    const processes = () => readdirSync(folder).filter((name) => name.endsWith('.pid')).length;
    export const handler = async () => {
      writeFileSync(folder + '/' + process.pid + '.pid', '');
      while (processes() < 2) await new Promise((again) => setTimeout(again, 10));
      return { statusCode: 200, body: String(process.pid) };
    };`,
  throws: `export const handler = async () => { throw new TypeError('refused'); };`,
  dies: `let calls = 0; export const handler = async () => { calls += 1; if (calls > 1) process.exit(3); return { statusCode: 200 }; };`,
  broken: `throw new Error('cannot start'); export const handler = 1;`,
};

let folder: string;
let functions: Bundled;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'basalt-bundles-'));
  for (const [name, source] of Object.entries(sources)) {
    await mkdir(path.join(folder, name));
    await writeFile(path.join(folder, name, 'index.mjs'), source);
  }
  functions = bundled(folder, { SETTING: 'on' });
});
afterAll(async () => {
  await functions.stop();
  await rm(folder, { recursive: true, force: true });
});

const bodyOf = async (name: string, event: unknown = {}): Promise<string> =>
  (await functions.invoke(name, event))?.body ?? '';

describe('bundle with the Lambda Runtime API', () => {
  test('gets only event, settings and deadline', async () => {
    const seen = JSON.parse(await bodyOf('echo', { a: 'é' })) as Record<string, unknown>;
    expect(seen).toMatchObject({ event: { a: 'é' }, setting: 'on', task: path.join(folder, 'echo') });
    expect(seen.left).toBeGreaterThan(20_000);
    expect(seen).not.toHaveProperty('home');
    expect(seen.pid).not.toBe(process.pid);
  });

  test('reuses its process when requests follow each other', async () => {
    const pids = [await bodyOf('echo'), await bodyOf('echo')].map((body) => (JSON.parse(body) as { pid: number }).pid);
    expect(pids[0]).toBe(pids[1]);
  });

  test('starts a limited number of processes when requests overlap', async () => {
    const pids = await Promise.all(Array.from({ length: 12 }, () => bodyOf('overlaps')));
    expect(new Set(pids).size).toBeGreaterThan(1);
    expect(new Set(pids).size).toBeLessThanOrEqual(4);
  });

  test('rejects the request when the function throws', async () => {
    await expect(functions.invoke('throws', {})).rejects.toThrow('TypeError: refused');
  });

  test('rejects the request when its process ends, and starts another process', async () => {
    await functions.invoke('dies', {});
    await expect(functions.invoke('dies', {})).rejects.toThrow('exit code 3');
    expect(await functions.invoke('dies', {})).toMatchObject({ statusCode: 200 });
  });

  test('rejects the request when it cannot be loaded', async () => {
    await expect(functions.invoke('broken', {})).rejects.toThrow('cannot start');
  });

  test('rejects the request when it does not exist', async () => {
    await expect(functions.invoke('missing', {})).rejects.toThrow('Cannot find module');
  });
});
