import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { handler as createDocument } from '../../functions/data/create-document.ts';
import { flushRefusals } from '../../shared/usage/rejected-requests.ts';
import { inParallel } from '../support/clients/client.ts';
import { invoke } from '../support/clients/invoke.ts';
import { type CommandFolder, newLinkedFolder } from '../support/fixtures/command.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

process.env.USAGE_SECONDS = '10';

const main = path.resolve(import.meta.dirname, '../../cli/src/main.ts');
const title = { key: 'title', type: 'String', required: true };

let project: TestProject;
let folder: CommandFolder;
let reader: Client;
let writer: Client;
/** Everything that the servers sent. */
const answers: string[] = [];

/** An agent that starts `basalt mcp` in the folder. */
const newAgent = async (...args: readonly string[]): Promise<Client> => {
  const agent = new Client({ name: 'test', version: '1' });
  const env = { BASALT_TOKEN: project.developer.token, HOME: folder.home, MY_SECRET: 'hunter22' };
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [main, 'mcp', ...args],
    cwd: folder.path,
    env,
    stderr: 'inherit',
  });
  await agent.connect(transport);
  return agent;
};

interface ToolAnswer {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text: string }[];
}

const call = async (agent: Client, name: string, args: Record<string, unknown> = {}): Promise<ToolAnswer> => {
  const answer = await agent.callTool({ name, arguments: args });
  answers.push(JSON.stringify(answer));
  return answer as unknown as ToolAnswer;
};

/** The data of a successful tool. */
const read = async <T = Record<string, unknown>>(agent: Client, name: string, args = {}): Promise<T> => {
  const { content, isError } = await call(agent, name, args);
  const [{ text = '' } = {}] = content;
  if (isError) throw new Error(text);
  return JSON.parse(text) as T;
};

const failure = async (agent: Client, name: string, args = {}): Promise<string> => {
  const { content, isError } = await call(agent, name, args);
  expect(isError).toBe(true);
  return content[0]?.text ?? '';
};

interface Planned {
  readonly plan: string;
  readonly changes: readonly object[];
}

beforeAll(async () => {
  project = await newProject([
    { name: 'notes', schema: [title, { key: 'views', type: 'Number' }] },
    { name: 'diaries', rls: { enabled: true, mode: 'private' } },
  ]);
  const documents = [1, 2, 3].map((views) => ({ title: `note ${views}`, views }));
  await project.api('POST', '/api/data/notes/bulk', { body: documents });
  await project.api('POST', '/api/data/diaries', { body: { text: 'mine', userId: 'a'.repeat(24) } });
  folder = await newLinkedFolder(project);
  [reader, writer] = await Promise.all([newAgent(), newAgent('--write')]);
});

afterAll(async () => {
  await Promise.all([reader.close(), writer.close()]);
  await folder.remove();
});

describe('basalt mcp', () => {
  test('has tools that read, and tools that write only with --write', async () => {
    const names = async (agent: Client) => (await agent.listTools()).tools.map(({ name }) => name);
    const reading = ['projects', 'schema', 'query', 'aggregate', 'explain_refusal'];
    expect(await names(reader)).toEqual(reading);
    expect(await names(writer)).toEqual([...reading, 'insert', 'update', 'push_schema']);
    const { tools } = await writer.listTools();
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name)).toEqual(reading);
    expect(await failure(reader, 'insert', { collection: 'notes', document: { title: 'x' } })).toContain('insert');
  });

  test('serves the linked project only, without its keys', async () => {
    expect(await read(reader, 'projects')).toEqual([
      expect.objectContaining({ id: project.id, apiUrl: expect.stringContaining('http') }),
    ]);
  });

  test('shows the schema in the form of the file', async () => {
    expect(await read(reader, 'schema')).toMatchObject({
      version: 1,
      collections: {
        notes: { schema: [title, { key: 'views', type: 'Number' }] },
        diaries: { rls: { enabled: true, mode: 'private' } },
      },
    });
  });

  test('finds documents by a condition, also those that row security hides from users', async () => {
    const { items, total } = await read<{ items: { views: number }[]; total: number }>(reader, 'query', {
      collection: 'notes',
      where: { views: { $gte: 2 } },
      limit: 1,
    });
    expect({ views: items.map(({ views }) => views), total }).toEqual({ views: [3], total: 2 });
    expect(await read(reader, 'query', { collection: 'diaries' })).toMatchObject({ items: [{ text: 'mine' }] });
    expect(await failure(reader, 'query', { collection: 'nowhere' })).toContain('COLLECTION_NOT_FOUND');
    expect(await failure(reader, 'query', { collection: 'users' })).toContain('USERS_RESERVED');
    expect(await failure(reader, 'query', { collection: 'notes', limit: 101 })).toContain('limit');
    expect(await failure(reader, 'query', { collection: '../users' })).toMatch(/NOT_FOUND|INVALID/);
  });

  test('runs pipelines that read', async () => {
    const pipeline = [{ $group: { _id: null, views: { $sum: '$views' } } }];
    expect(await read(reader, 'aggregate', { collection: 'notes', pipeline })).toEqual([{ _id: null, views: 6 }]);
    const writing = { collection: 'notes', pipeline: [{ $out: 'copy' }] };
    expect(await failure(writer, 'aggregate', writing)).toContain('BLOCKED_STAGE');
  });

  test('explains a rejected request by its id', async () => {
    const { body, status } = await invoke(createDocument, {
      key: project.secretKey,
      method: 'POST',
      params: { collectionName: 'notes' },
      body: { views: 'many' },
    });
    expect(status).toBe(400);
    await flushRefusals();
    const { requestId } = body as { requestId: string };
    expect(await read(reader, 'explain_refusal', { requestId })).toMatchObject({
      request: { code: 'VALIDATION_FAILED', collection: 'notes', fields: ['title', 'views'], requestId },
      fix: expect.stringContaining('fields'),
    });
    expect(await failure(reader, 'explain_refusal', { requestId: 'unknown' })).toContain('no rejected request');
  });

  test('inserts and updates documents with --write', async () => {
    const { _id: id } = await read<{ _id: string }>(writer, 'insert', {
      collection: 'notes',
      document: { title: 'of an agent', views: 0 },
    });
    const changed = await read(writer, 'update', { collection: 'notes', id, changes: { $inc: { views: 2 } } });
    expect(changed).toMatchObject({ _id: id, title: 'of an agent', views: 2 });
    expect(await failure(writer, 'insert', { collection: 'notes', document: {} })).toContain('VALIDATION_FAILED');
    await project.api('DELETE', `/api/data/notes/${id}?permanent=true`);
  });

  test('cuts a response at 256 KiB, and says so', async () => {
    const long = 'ä"'.repeat(50_000);
    await project.addCollection({ name: 'long' });
    for (const text of [long, long, long]) await project.api('POST', '/api/data/long', { body: { text } });
    const answer = await call(reader, 'query', { collection: 'long' });
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThanOrEqual(256 * 1024);
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeGreaterThan(250 * 1024);
    expect(answer.content[1]?.text).toContain('Cut at 256 KiB');
    const small = await call(reader, 'query', { collection: 'notes' });
    expect(small.content).toHaveLength(1);
  });
});

describe('push_schema', () => {
  const withCollection = async (name: string): Promise<Record<string, unknown>> => {
    const schema = await read<{ collections: object }>(writer, 'schema');
    return { ...schema, collections: { ...schema.collections, [name]: { schema: [title] } } };
  };

  test('returns the changes and a plan, which of 50 parallel calls one applies', async () => {
    const schema = await withCollection('letters');
    const { plan, changes } = await read<Planned>(writer, 'push_schema', { schema });
    expect(changes).toMatchObject([{ action: 'create', kind: 'collection', name: 'letters' }]);
    expect((await read<{ collections: object }>(reader, 'schema')).collections).not.toHaveProperty('letters');
    const applied = await inParallel(50, () => call(writer, 'push_schema', { plan }));
    expect(applied.filter(({ isError }) => !isError).map(({ content }) => content[0]?.text)).toEqual([
      JSON.stringify({ applied: ['create collection letters'], notSet: [] }),
    ]);
    const others = applied.filter(({ isError, content }) => isError && content[0]?.text.includes('plans expire'));
    expect(others).toHaveLength(49);
    expect((await read<{ collections: object }>(reader, 'schema')).collections).toHaveProperty('letters');
    expect(await read(writer, 'push_schema', { schema })).toEqual({ changes: [] });
  });

  test('rejects a plan when the project has changed since', async () => {
    const { plan } = await read<Planned>(writer, 'push_schema', { schema: await withCollection('parcels') });
    await project.addCollection({ name: 'meanwhile' });
    expect(await failure(writer, 'push_schema', { plan })).toContain('has changed since');
    expect((await read<{ collections: object }>(reader, 'schema')).collections).not.toHaveProperty('parcels');
  });

  test('rejects what would be lost', async () => {
    const { collections, ...rest } = await read<{ collections: Record<string, unknown> }>(writer, 'schema');
    const { notes: _notes, ...others } = collections;
    expect(await failure(writer, 'push_schema', { schema: { ...rest, collections: others } })).toContain(
      'collection notes with 3 documents',
    );
    const schema = { ...rest, collections: { ...collections, notes: { schema: [title] } } };
    expect(await failure(writer, 'push_schema', { schema })).toContain('field views');
  });

  test('reads no variable of the environment', async () => {
    const variable = '{MY_SECRET}';
    const schema = { ...(await read(writer, 'schema')), settings: { siteUrl: `https://example.com/$${variable}` } };
    expect(await failure(writer, 'push_schema', { schema })).toContain('MY_SECRET');
  });

  test('rejects an unknown plan, a malformed schema, and both or neither', async () => {
    expect(await failure(writer, 'push_schema', { plan: 'unknown' })).toContain('does not exist');
    expect(await failure(writer, 'push_schema', { schema: { version: 2 } })).toContain('version');
    expect(await failure(writer, 'push_schema', {})).toContain('either schema or plan');
    expect(await failure(writer, 'push_schema', { schema: {}, plan: 'x' })).toContain('either schema or plan');
  });
});

test('no response contains a key or token, not even of a document', async () => {
  const text = `sk_live_${'x'.repeat(30)} and bslt_pat_${'y'.repeat(43)}`;
  await project.addCollection({ name: 'leaks' });
  await project.api('POST', '/api/data/leaks', { body: { text } });
  expect(await read(reader, 'query', { collection: 'leaks' })).toMatchObject({ items: [{ text: '… and …' }] });
  const all = answers.join('\n');
  expect(all).not.toMatch(/[ps]k_live_|bslt_pat_|whsec_|hunter22/);
  expect(all).not.toContain(project.developer.token);
});

test('the command ends with 2 when the folder is not linked', async () => {
  await folder.write('basalt.config.json', {});
  expect(await folder.basalt(['mcp'])).toMatchObject({ code: 2, notes: expect.stringContaining('basalt.config.json') });
});
