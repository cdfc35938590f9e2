import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { buildClient, clientFolder } from '../../infra/build/client.ts';
import { demoCollections } from '../../infra/local/demo.ts';
import { call } from '../support/clients/client.ts';
import { compile } from '../support/clients/compile.ts';
import type { CollectionInput } from '../support/fixtures/project.ts';
import { newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

const run = promisify(execFile);
let folder: string;
let project: UsersProject;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'basalt-client-readme-'));
  await mkdir(join(folder, 'node_modules/@basalt'), { recursive: true });
  await buildClient(join(folder, 'client'));
  await writeFile(join(folder, 'client/package.json'), readFileSync(join(clientFolder, 'package.json')));
  await symlink(join(folder, 'client'), join(folder, 'node_modules/@basalt/client'));
  project = await newUsersProject();
  const { users: _users, ...collections } = demoCollections;
  for (const [name, collection] of Object.entries(collections))
    await project.addCollection({ ...collection, name } as CollectionInput);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Returns the README’s code blocks as one program. The later blocks use the variables of the first two. */
const program = (): string => {
  const text = readFileSync(join(clientFolder, 'README.md'), 'utf8')
    .replaceAll('http://127.0.0.1:4000', inject('stack').baseUrl)
    .replaceAll('pk_live_…', project.publishableKey)
    .replaceAll('sk_live_…', project.secretKey);
  const blocks = [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, block = '']) => block);
  const [first = '', second = '', ...others] = blocks;
  expect(others.length).toBeGreaterThan(4);
  return [first, second, ...others.map((block) => `{\n${block}}`)].join('\n');
};

test('code in the README compiles against the types from the service and prints what it promises', async () => {
  const types = await call<string>(inject('stack').baseUrl, 'GET', '/api/types.ts', { key: project.publishableKey });
  const files = { 'schema.ts': types.body, 'readme.ts': program() };
  expect(await compile(files, { '@basalt/client': join(folder, 'client') })).toBe('');
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  const { stdout } = await run(process.execPath, [join(folder, 'readme.ts')]);
  for (const said of ['Hello', 'to do: ', 'mine alone', '404 DOCUMENT_NOT_FOUND', 'hello.txt Hello'])
    expect(stdout).toContain(said);
  // The queue decides which status the email has by then.
  expect(stdout).toMatch(/^(queued|sent|delivered)$/m);
});
