import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type CommandFolder, newCommandFolder, newLinkedFolder } from '../support/fixtures/command.ts';
import { type Developer, newDeveloper, newProject } from '../support/fixtures/project.ts';

let developer: Developer;
let url: string;
const folders: CommandFolder[] = [];

const emptyFolder = async (): Promise<CommandFolder> => {
  const folder = await newCommandFolder(developer.token);
  folders.push(folder);
  return folder;
};

beforeAll(async () => {
  developer = await newDeveloper();
  url = inject('stack').dashboardUrl;
});

afterAll(async () => void (await Promise.all(folders.map((folder) => folder.remove()))));

describe('basalt init', () => {
  test('creates a project, links the folder and prints no key', async () => {
    const folder = await emptyFolder();
    const { code, out, notes } = await folder.basalt(['init', 'Shop', '--url', url, '--json']);
    const { id, ...rest } = JSON.parse(out) as { id: string };
    expect({ code, rest }).toEqual({
      code: 0,
      rest: { name: 'Shop', url, apiUrl: inject('stack').baseUrl, files: ['basalt.config.json', 'basalt.schema.json'] },
    });
    expect(out + notes).not.toMatch(/[ps]k_live_/);
    expect(JSON.parse(await folder.read('basalt.config.json'))).toEqual({ url, projectId: id });
    expect(JSON.parse(await folder.read('basalt.schema.json'))).toEqual({
      $schema: './node_modules/@basalt/cli/dist/schema.json',
      version: 1,
      collections: {},
    });
  });

  test('replaces the link of the folder only when the developer agrees', async () => {
    const folder = await emptyFolder();
    expect((await folder.basalt(['init', 'First', '--url', url])).code).toBe(0);
    const before = await folder.read('basalt.config.json');
    expect(await folder.basalt(['init', 'Second'])).toMatchObject({ code: 2, notes: expect.stringContaining('--yes') });
    expect((await folder.basalt(['init', 'Second'], { agrees: false })).code).toBe(2);
    expect(await folder.read('basalt.config.json')).toBe(before);
    const list = await developer.dashboard<{ data: { items: { name: string }[] } }>('GET', '/api/projects');
    expect(list.body.data.items.map(({ name }) => name)).not.toContain('Second');
    expect((await folder.basalt(['init', 'Third'], { agrees: true })).code).toBe(0);
    expect(await folder.read('basalt.config.json')).not.toBe(before);
  });
});

describe('basalt link', () => {
  test('links a folder to a project and writes its schema', async () => {
    const project = await newProject([{ name: 'notes', schema: [{ key: 'text', type: 'String' }] }], developer);
    const folder = await emptyFolder();
    expect((await folder.basalt(['link', project.id, '--url', url])).code).toBe(0);
    expect(JSON.parse(await folder.read('basalt.schema.json'))).toMatchObject({
      collections: { notes: { schema: [{ key: 'text', type: 'String' }] } },
    });
    expect((await folder.basalt(['link', project.id])).code).toBe(0);
  });

  test('ends with 2 when the project does not exist or belongs to another developer', async () => {
    const other = await newProject();
    const folder = await emptyFolder();
    for (const id of ['0'.repeat(24), other.id]) {
      const { code, notes } = await folder.basalt(['link', id, '--url', url]);
      expect({ code, notes }).toEqual({ code: 2, notes: expect.stringContaining('PROJECT_NOT_FOUND') });
    }
    expect((await folder.basalt(['link', 'shop', '--url', url])).notes).toContain('24 hexadecimal digits');
    await expect(folder.read('basalt.config.json')).rejects.toThrow();
  });
});

describe('basalt types', () => {
  test('writes what the publishable key sees', async () => {
    const project = await newProject([{ name: 'notes', schema: [{ key: 'text', type: 'String' }] }], developer);
    const folder = await newLinkedFolder(project);
    folders.push(folder);
    expect(await folder.basalt(['types'])).toMatchObject({ code: 0, out: 'Wrote schema.ts.\n' });
    expect(await folder.read('schema.ts')).toMatch(/notes[\s\S]*text/);
    expect(await folder.basalt(['types', '--json'])).toMatchObject({
      code: 0,
      out: '{"file":"schema.ts","changed":false}\n',
    });
    expect((await folder.basalt(['types', 'app.ts'])).code).toBe(0);
    expect(await folder.read('app.ts')).toBe(await folder.read('schema.ts'));
    expect((await folder.basalt(['types', '--every', '0'])).code).toBe(2);
  });

  test('writes the file again with --watch when a collection changes', async () => {
    const project = await newProject([{ name: 'notes', schema: [{ key: 'text', type: 'String' }] }], developer);
    const folder = await newLinkedFolder(project);
    folders.push(folder);
    const stop = new AbortController();
    const ended = once(stop.signal, 'abort');
    const watching = folder.basalt(['types', '--watch', '--every', '1'], { stop: stop.signal });
    await expect.poll(() => folder.read('schema.ts').catch(() => '')).toContain('text');
    await project.addCollection({ name: 'letters', schema: [{ key: 'sender', type: 'String' }] });
    await expect.poll(() => folder.read('schema.ts')).toContain('sender');
    stop.abort();
    await ended;
    expect((await watching).code).toBe(0);
  });
});

test.each([['pull'], ['diff'], ['push', '--yes'], ['types']])(
  'basalt %s ends with 2 when the folder is not linked',
  async (...args) => {
    const folder = await emptyFolder();
    await folder.write('basalt.schema.json', { version: 1, collections: {} });
    expect(await folder.basalt(args)).toMatchObject({ code: 2, notes: expect.stringContaining('basalt init') });
  },
);

test('--project takes precedence over the linked project', async () => {
  const [one, other] = [await newProject([], developer), await newProject([{ name: 'notes' }], developer)];
  const folder = await newLinkedFolder(one);
  folders.push(folder);
  expect((await folder.basalt(['pull', '--project', other.id])).code).toBe(0);
  expect(await folder.read('basalt.schema.json')).toContain('notes');
});
