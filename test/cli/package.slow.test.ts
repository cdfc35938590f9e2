import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { cliFolder } from '../../infra/build/cli.ts';
import { buildClient, clientFolder } from '../../infra/build/client.ts';
import { type Developer, newDeveloper } from '../support/fixtures/project.ts';

const run = promisify(execFile);
const env = { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) };

const majorOf = (node: string): string =>
  execFileSync(node, ['-p', 'process.versions.node.split(".")[0]']).toString().trim();

/** The Nodes of this machine that the package promises to run on: this one, and Node 20 if it is installed. */
const others = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .filter(existsSync);
const older = others.find((node) => majorOf(node) === '20');
const nodes = [process.execPath, ...(older === undefined ? [] : [older])].map((node) => ({
  node,
  major: majorOf(node),
}));

let folder: string;
let developer: Developer;
const files: Record<string, readonly string[]> = {};

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** Packs the package as it is published, and returns the archive. */
const pack = async (source: string): Promise<string> => {
  const { stdout } = await run('npm', ['pack', '--json', '--loglevel=error', '--pack-destination', folder], {
    cwd: source,
    env,
  });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('['))) as Packed[];
  files[source] = packed?.files.map(({ path }) => path) ?? [];
  return join(folder, packed?.filename ?? '');
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'basalt-cli-package-'));
  developer = await newDeveloper();
  const archive = await pack(cliFolder);
  await mkdir(join(folder, 'app'));
  await writeFile(join(folder, 'app/package.json'), '{"type":"module"}');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', archive], {
    cwd: join(folder, 'app'),
    env,
  });
  await buildClient(join(folder, 'client'));
  await copyFile(join(clientFolder, 'package.json'), join(folder, 'client/package.json'));
  await symlink(join(folder, 'client'), join(folder, 'app/node_modules/@basalt/client'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test('the package contains only the command, the schema for editors, README, licences and manifest', async () => {
  expect([...(files[cliFolder] ?? [])].sort()).toEqual([
    'LICENSE',
    'README.md',
    'dist/chunk.js',
    'dist/licenses.txt',
    'dist/main.js',
    'dist/mcp-server.js',
    'dist/schema.json',
    'package.json',
  ]);
  const manifest = JSON.parse(await readFile(join(cliFolder, 'package.json'), 'utf8')) as Record<string, unknown>;
  const { version, license } = JSON.parse(await readFile('package.json', 'utf8')) as Record<string, unknown>;
  expect(manifest).toMatchObject({ name: '@basalt/cli', version, license, type: 'module' });
  expect((await stat(join(folder, 'app/node_modules/.bin/basalt'))).mode & 0o111).not.toBe(0);
  const licences = await readFile(join(cliFolder, 'dist/licenses.txt'), 'utf8');
  expect(licences).toMatch(/^@modelcontextprotocol\/sdk\n\nMIT License/);
  expect(licences).toMatch(/\nzod\n\nMIT License/);
});

describe.each(nodes)('installed in an empty folder, on Node $major', ({ node, major }) => {
  test('creates a project, pushes a collection, writes types and exports what the typed client inserts', async () => {
    const place = join(folder, 'app', `on-${major}`);
    await mkdir(place);
    const url = inject('stack').dashboardUrl;
    const home = { HOME: place, XDG_CONFIG_HOME: place, BASALT_TOKEN: '' };
    const basalt = async (args: readonly string[], input = ''): Promise<string> => {
      const command = run(node, [join(folder, 'app/node_modules/.bin/basalt'), ...args], {
        cwd: place,
        env: { ...env, ...home },
      });
      command.child.stdin?.end(input);
      return (await command).stdout;
    };
    expect(await basalt(['login', '--url', url], developer.token)).toBe(`Signed in to ${url} as ${developer.email}.\n`);
    expect((await stat(join(place, 'basalt/credentials.json'))).mode & 0o777).toBe(0o600);
    const { id, apiUrl } = JSON.parse(await basalt(['init', `On Node ${major}`, '--json'])) as {
      id: string;
      apiUrl: string;
    };
    const collections = { notes: { schema: [{ key: 'text', type: 'String', required: true }] } };
    await writeFile(join(place, 'basalt.schema.json'), JSON.stringify({ version: 1, collections }));
    // Without a terminal it has color codes nowhere.
    expect(await basalt(['push', '--yes'])).toBe('+ collection notes\n');
    expect(await basalt(['diff'])).toBe('No differences.\n');
    await basalt(['types']);
    const rotated = await developer.dashboard<{ data: { key: string } }>('POST', `/api/projects/${id}/keys/rotate`, {
      type: 'secret',
    });
    const program = `import { basalt } from '@basalt/client';
import type { Schema } from './schema.ts';
await basalt<Schema>('${apiUrl}', '${rotated.body.data.key}').notes.insert({ text: 'first' });
`;
    await writeFile(join(place, 'insert.ts'), program);
    await run(process.execPath, [join(place, 'insert.ts')], { env });
    expect(JSON.parse(await basalt(['export', 'notes']))).toMatchObject({ text: 'first' });
    await writeFile(join(place, 'notes.csv'), 'text\nsecond\n');
    expect(await basalt(['import', 'notes.csv', 'notes'])).toBe('Imported 1 document.\n');
    const agent = new Client({ name: 'test', version: '1' });
    const args = [join(folder, 'app/node_modules/.bin/basalt'), 'mcp'];
    await agent.connect(
      new StdioClientTransport({ command: node, args, cwd: place, env: { ...home, PATH: env.PATH } }),
    );
    const { content } = await agent.callTool({ name: 'query', arguments: { collection: 'notes' } });
    expect(JSON.stringify(content)).toContain('second');
    await agent.close();
    await expect(basalt(['push', '--wrong'])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--wrong'),
    });
    expect(await basalt(['logout'])).toContain('Deleted the token');
  });
});
