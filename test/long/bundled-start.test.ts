import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { DevFile } from '../../infra/local/state-files.ts';
import { call } from '../support/clients/client.ts';
import { freePorts } from '../support/clients/free-ports.ts';
import { localStart } from '../support/clients/local-start.ts';

test('npm start serves the bundles when --bundled is given', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'basalt-start-'));
  const started = localStart({ BASALT_DIR: directory, PORT: String(await freePorts()) }, ['--bundled']);
  try {
    await started.ready();
    const dev = JSON.parse(await readFile(path.join(directory, 'dev.json'), 'utf8')) as DevFile;
    const { baseUrl, secretKey: key } = dev;
    const { status, body } = await call(baseUrl, 'POST', '/api/data/notes', { key, body: { text: 'bundled' } });
    expect(status).toBe(201);
    expect((await call(baseUrl, 'GET', `/api/data/notes/${String(body._id)}`, { key })).body.text).toBe('bundled');
  } finally {
    started.child.kill('SIGTERM');
    await started.ended;
    await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
});
