import { beforeAll, describe, expect, test } from 'vitest';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

let project: TestProject;

const ofLength = (length: number): string => `${'a'.repeat(length - 1)}b`;
const texts = { '100': ofLength(100), '101': ofLength(101), '300': ofLength(300), '5000': ofLength(5000) };
const long = { '5001': ofLength(5001), 'signs 100': `${'😀'.repeat(99)}b`, 'a million': 'a'.repeat(900_000) };

beforeAll(async () => {
  project = await newProject([
    {
      name: 'notes',
      schema: [
        { key: 'text', type: 'String' },
        { key: 'n', type: 'String' },
      ],
    },
  ]);
  const documents = Object.entries({ ...texts, ...long }).map(([n, text]) => ({ n, text }));
  const { status } = await project.api('POST', '/api/data/notes/bulk', { body: documents });
  expect(status).toBe(201);
});

interface Named {
  readonly n: string;
}

const names = (items: readonly Named[]): string => items.map(({ n }) => n).join(', ');

const byWhere = async (pattern: string): Promise<string> => {
  const where = { text: { $regex: pattern } };
  const answer = await project.api<{ data: { items: Named[] } }>('POST', '/api/data/notes/query', {
    body: { where, sort: 'n' },
  });
  return names(answer.body.data.items);
};

const bySuffix = async (pattern: string): Promise<string> => {
  const query = `text_regex=${encodeURIComponent(pattern)}&sort=n`;
  const answer = await project.api<{ data: { items: Named[] } }>('GET', `/api/data/notes?${query}`);
  return names(answer.body.data.items);
};

const byPipeline = async (...stages: object[]): Promise<string> => {
  const pipeline = [...stages, { $sort: { n: 1 } }, { $project: { n: 1 } }];
  const answer = await project.api<{ data: Named[] }>('POST', '/api/data/notes/aggregate', { body: { pipeline } });
  expect(answer.body).toMatchObject({ data: expect.any(Array) });
  return names(answer.body.data);
};

const byExpression = (regex: unknown) => (): Promise<string> =>
  byPipeline({ $match: { $expr: { $regexMatch: { input: '$text', regex } } } });

describe('a pattern on long texts', () => {
  test.each<[string, string, string]>([
    ['matches texts of any length without repetitions', 'b', '100, 101, 300, 5000, 5001, signs 100'],
    ['matches up to 5000 characters with one repetition', 'a+b', '100, 101, 300, 5000'],
    ['matches up to 300 characters with two', 'a*a*b', '100, 101, 300, signs 100'],
    ['matches up to 100 characters with three', '.*?.*?.*?b', '100, signs 100'],
    ['matches any length when one repetition begins at the start', '^a+b', '100, 101, 300, 5000, 5001'],
  ])('%s', async (_what, pattern, expected) => {
    expect(await byWhere(pattern)).toBe(expected);
    expect(await bySuffix(pattern)).toBe(expected);
    expect(await byPipeline({ $match: { text: { $regex: pattern } } })).toBe(expected);
    expect(await byPipeline({ $match: { $jsonSchema: { properties: { text: { pattern } } } } })).toBe(expected);
    expect(await byExpression(pattern)()).toBe(expected);
  });

  test('a pattern that an expression computes matches up to 100 characters', async () => {
    expect(await byExpression({ $concat: ['b', ''] })()).toBe('100, signs 100');
    expect(await byExpression('$n')()).toBe('');
  });

  test('a pattern that begins with options or ends with a comment keeps its meaning', async () => {
    expect(await byWhere('(?i)A+B')).toBe('100, 101, 300, 5000');
    expect(await byWhere('(?x) a+ b # a comment')).toBe('100, 101, 300, 5000');
    expect(await byWhere('\\Qa+b')).toBe('');
  });

  test('$pull removes the same elements that a list would find', async () => {
    const values = [ofLength(5000), ofLength(5001), 'ab'];
    const made = await project.api<{ _id: string }>('POST', '/api/data/notes', { body: { n: 'list', values } });
    const path = `/api/data/notes/${made.body._id}`;
    const { status } = await project.api('PATCH', path, { body: { $pull: { values: { $regex: 'a+b' } } } });
    expect(status).toBe(200);
    const { body } = await project.api<{ values: string[] }>('GET', path);
    expect(body.values.map((value) => value.length)).toEqual([5001]);
  });

  test('a schema gets a pattern that long stored texts match', async () => {
    await project.addCollection({ name: 'words', schema: [{ key: 'word', type: 'String' }] });
    await project.api('POST', '/api/data/words', { body: { word: 'a'.repeat(50_000) } });
    const path = `/api/projects/${project.id}/collections/words`;
    const edit = (pattern: string) =>
      project.developer.dashboard('PUT', path, { schema: [{ key: 'word', type: 'String', pattern }] });
    expect(await edit('^[a-y]+$')).toMatchObject({ status: 200 });
    expect(await edit('^[b-y]+$')).toMatchObject({ status: 409 });
  });
});
