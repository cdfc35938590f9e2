import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CommandFolder, newLinkedFolder } from '../support/fixtures/command.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

const schema = [
  { key: 'title', type: 'String', required: true },
  { key: 'views', type: 'Number' },
  { key: 'tags', type: 'Array', items: { type: 'String' } },
];

let project: TestProject;
let folder: CommandFolder;

beforeAll(async () => {
  project = await newProject([
    { name: 'posts', schema },
    { name: 'copies', schema },
    { name: 'more', schema },
  ]);
  folder = await newLinkedFolder(project);
  await folder.write('posts.csv', 'title,views,tags\none,1,"[""a,b""]"\ntwo,2,\nthree,3,\n');
});

afterAll(() => folder.remove());

const titlesIn = async (collection: string): Promise<readonly string[]> => {
  const { body } = await project.api<{ data: { items: { title: string }[] } }>(
    'GET',
    `/api/data/${collection}?limit=100`,
  );
  return body.data.items.map(({ title }) => title).sort();
};

describe('basalt import', () => {
  test('stores the lines of a CSV file', async () => {
    expect(await folder.basalt(['import', 'posts.csv', 'posts'])).toEqual({
      code: 0,
      out: 'Imported 3 documents.\n',
      notes: '',
    });
    expect(await titlesIn('posts')).toEqual(['one', 'three', 'two']);
  });

  test('ends with 1 and names the lines when some are rejected, and with 1 when all are', async () => {
    await folder.write('some.ndjson', '{"title":"good"}\n{"title":5}\n{}\n');
    const some = await folder.basalt(['import', 'some.ndjson', 'more']);
    expect(some).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^Imported 1 document, rejected 2\.\n {2}line 2: .*title.*\n {2}line 3: /),
    });
    await folder.write('none.json', [{ views: 'a' }]);
    const none = await folder.basalt(['import', 'none.json', 'more', '--json']);
    expect({ code: none.code, result: JSON.parse(none.out) }).toMatchObject({
      code: 1,
      result: { inserted: 0, rejected: 1 },
    });
  });

  test('keeps ids, and replaces or skips documents whose id is taken', async () => {
    const _id = '6743f0c2a91b5d0012ab34cd';
    await folder.write('ids.json', [{ _id, title: 'first' }]);
    expect((await folder.basalt(['import', 'ids.json', 'copies', '--keep-ids'])).code).toBe(0);
    expect((await folder.basalt(['import', 'ids.json', 'copies', '--keep-ids'])).code).toBe(1);
    expect(await folder.basalt(['import', 'ids.json', 'copies', '--keep-ids', '--on-conflict', 'skip'])).toMatchObject({
      code: 0,
      out: 'Imported 0 documents, skipped 1.\n',
    });
    await folder.write('ids.json', [{ _id, title: 'second' }]);
    expect((await folder.basalt(['import', 'ids.json', 'copies', '--keep-ids', '--on-conflict', 'replace'])).code).toBe(
      0,
    );
    expect(await titlesIn('copies')).toEqual(['second']);
  });

  test('ends with 2 when the file, its format or the collection is wrong', async () => {
    await folder.write('posts.txt', 'title\none\n');
    await folder.write('empty.csv', '');
    await folder.write('broken.csv', 'title,title\na,b\n');
    for (const [args, message] of [
      [['none.csv', 'posts'], 'none.csv cannot be read'],
      [['empty.csv', 'posts'], 'not a file with content'],
      [['posts.txt', 'posts'], '--format'],
      [['posts.csv', 'nothing'], 'COLLECTION_NOT_FOUND'],
      [['posts.csv', 'posts', '--on-conflict', 'skip'], 'keepIds'],
      [['broken.csv', 'posts'], 'comes twice'],
    ] as const) {
      expect(await folder.basalt(['import', ...args])).toMatchObject({
        code: 2,
        notes: expect.stringContaining(message),
      });
    }
    expect((await folder.basalt(['import', 'posts.txt', 'more', '--format', 'csv'])).code).toBe(0);
  });
});

describe('basalt export', () => {
  test.each(['csv', 'ndjson', 'json'])('writes %s that an import stores again', async (format) => {
    await folder.basalt(['import', 'posts.csv', 'posts']);
    const name = `all.${format}`;
    const target = `of-${format}`;
    await project.addCollection({ name: target, schema });
    const exported = await folder.basalt(['export', 'posts', name, '--json']);
    const { count } = JSON.parse(exported.out) as { count: number };
    expect({ code: exported.code, count }).toEqual({ code: 0, count: (await titlesIn('posts')).length });
    expect((await folder.basalt(['import', name, target])).code).toBe(0);
    expect(await titlesIn(target)).toEqual(await titlesIn('posts'));
  });

  test('writes NDJSON of the documents that meet a condition to standard output, and leaves no file on the service', async () => {
    const { code, out, notes } = await folder.basalt(['export', 'posts', '--where', '{"views":{"$gte":3}}']);
    const titles = out
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { title: string }).title);
    expect({ code, notes, titles: new Set(titles) }).toEqual({ code: 0, notes: '', titles: new Set(['three']) });
    const { body } = await project.developer.dashboard<{ data: { items: { kind: string }[] } }>(
      'GET',
      `/api/projects/${project.id}/transfers`,
    );
    expect(body.data.items.filter(({ kind }) => kind === 'export')).toEqual([]);
  });

  test('ends with 2 when the condition, the format or the collection is wrong', async () => {
    for (const [args, message] of [
      [['posts', '--where', 'views'], '--where must be a condition in JSON'],
      [['posts', '--where', '{"views":{"$near":1}}'], 'INVALID_FILTER'],
      [['posts', 'posts.xlsx'], '--format'],
      [['posts', '--format', 'xlsx'], '--format must be'],
      [['nothing'], 'COLLECTION_NOT_FOUND'],
      [['posts', 'no-such-folder/posts.csv'], 'cannot be written'],
    ] as const) {
      expect(await folder.basalt(['export', ...args])).toMatchObject({
        code: 2,
        notes: expect.stringContaining(message),
      });
    }
  });
});
