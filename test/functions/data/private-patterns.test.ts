import { beforeAll, describe, expect, test } from 'vitest';
import { handler as listDocuments } from '../../../functions/data/list-documents.ts';
import { commandChannel, type DatabaseCommand } from '../../../shared/persistence/mongo-commands.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

process.env.RATE_LIMIT = '0';

const sent: DatabaseCommand[] = [];
commandChannel.subscribe((message) => sent.push(message as DatabaseCommand));

const ann = 'a'.repeat(24);
let project: TestProject;
let token: string;

beforeAll(async () => {
  const schema = [
    { key: 'code', type: 'String', unique: true },
    { key: 'size', type: 'Number' },
  ];
  const rls = { enabled: true, mode: 'private' } as const;
  project = await newProject([{ name: 'codes', schema, rls }]);
  token = await project.tokenFor(ann);
  const others = Array.from({ length: 20 }, (_, n) => ({ code: `treasure ${n}`, size: n, userId: 'b'.repeat(24) }));
  const own = Array.from({ length: 20 }, (_, n) => ({ code: `zebra ${n}`, size: n % 3, userId: ann }));
  const made = await project.api('POST', '/api/data/codes/bulk', { body: [...others, ...own] });
  expect(made.status).toBe(201);
});

interface Page {
  readonly items: readonly { readonly code: string; readonly size: number }[];
  readonly nextCursor: string | null;
  readonly total: number;
}

const list = async (query: string, key = project.publishableKey, collectionName = 'codes'): Promise<Page> => {
  const options = { key, params: { collectionName }, query, ...(key === project.secretKey ? {} : { token }) };
  const answer = await invoke(listDocuments, options);
  expect(answer.status).toBe(200);
  return answer.body.data as Page;
};

/** The stages with a pattern in the sent commands, each with the stages before it. */
const patternStages = () =>
  sent
    .filter(({ system }) => system === 'mongodb')
    .flatMap(({ name, command }) => {
      const stages = (command as { readonly pipeline?: readonly object[] }).pipeline ?? [command as object];
      const at = stages.findIndex((stage) => JSON.stringify(stage).includes('$regex'));
      return at < 0 ? [] : [`${name} ${stages.slice(0, at).map((stage) => Object.keys(stage)[0])}`];
    });

describe('a pattern in a list of a private collection', () => {
  test('200 with each document once when cursors follow a sort with two keys in one array', async () => {
    await project.addCollection({ name: 'parts', rls: { enabled: true, mode: 'private' } });
    const body = Array.from({ length: 10 }, (_, n) => ({
      code: `part ${n}`,
      userId: ann,
      list: [{ one: n % 3, two: n }, { one: n % 2 }],
    }));
    expect(await project.api('POST', '/api/data/parts/bulk', { body })).toMatchObject({ status: 201 });
    const codes: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query = `code_regex=^part&sort=list.one,list.two&limit=3&cursor=${cursor}`;
      const page: Page = await list(query, project.publishableKey, 'parts');
      codes.push(...page.items.map(({ code }) => code));
      cursor = page.nextCursor;
    }
    expect(codes).toHaveLength(10);
    expect(new Set(codes).size).toBe(10);
  });

  test.each<[string, string, readonly string[]]>([
    ['a page', 'code_regex=^treas', ['aggregate $match,$sort,$limit']],
    [
      'a sorted page',
      'code_regex=ZEBRA&sort=-size&limit=5',
      ['aggregate $match,$limit', 'aggregate $match,$sort,$limit'],
    ],
    ['a count', 'code_regex=^treas&count=true', ['aggregate $match,$limit']],
    ['a page by cursor', 'code_regex=ZEBRA&cursor=&limit=30', ['aggregate $match,$sort,$limit']],
  ])('runs after the condition that hides documents, for %s', async (_what, query, stages) => {
    sent.length = 0;
    await list(query);
    expect(patternStages().sort()).toEqual(stages);
  });

  test('200 with the same documents and order as in an open collection', async () => {
    for (const query of ['code_regex=1', 'code_regex=1&sort=size,-code&limit=4', 'code_regex=2$&skip=1&fields=size']) {
      const mine = await list(query);
      const all = await list(`${query}&userId=${ann}`, project.secretKey);
      expect({ ...mine }).toEqual({ ...all });
    }
    const all = await list('code_regex=zebra&sort=size');
    const paged: Page['items'][number][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { items, nextCursor }: Page = await list(`code_regex=zebra&sort=size&limit=7&cursor=${cursor}`);
      paged.push(...items);
      cursor = nextCursor;
    }
    expect(paged).toEqual(all.items);
  });

  test('is part of the query when no document is hidden', async () => {
    sent.length = 0;
    await list('code_regex=^treas', project.secretKey);
    expect(patternStages()).toEqual(['find ']);
  });
});
