import { beforeAll, describe, expect, test } from 'vitest';
import type { RequestOptions } from '../../support/clients/client.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

let project: TestProject;
const annId = 'a'.repeat(24);
const bobId = 'b'.repeat(24);

type Body = Record<string, unknown> & { _id: string };

const refs = (collection: string) => ({
  name: `${collection}-links`,
  schema: [
    { key: 'name', type: 'String' },
    { key: 'to', type: 'Ref', ref: collection },
  ],
});

/** Ids by document name, in either collection. */
const ids = new Map<string, string>();
const idOf = (collection: string, name: string): string => ids.get(`${collection} ${name}`) ?? '';

let who: Readonly<Record<'ann' | 'bob' | 'stranger' | 'server', RequestOptions>>;

const create = async (collection: string, caller: RequestOptions, body: unknown): Promise<string> =>
  (await project.api<Body>('POST', `/api/data/${collection}`, { ...caller, body })).body._id;

beforeAll(async () => {
  project = await newProject([
    { name: 'shown', rls: { enabled: true } },
    { name: 'hidden', rls: { enabled: true, trash: 'owner' } },
    refs('shown'),
    refs('hidden'),
  ]);
  const key = project.publishableKey;
  who = {
    ann: { key, token: await project.tokenFor(annId) },
    bob: { key, token: await project.tokenFor(bobId) },
    stranger: { key },
    server: {},
  };
  for (const collection of ['shown', 'hidden']) {
    for (const [name, owner] of [
      ['active', who.bob],
      ['of ann', who.ann],
      ['of bob', who.bob],
      ['of nobody', who.server],
    ] as const) {
      const id = await create(collection, owner, { name, secret: 'x'.repeat(3000) });
      ids.set(`${collection} ${name}`, id);
      await create(`${collection}-links`, who.server, { name, to: id });
      if (name !== 'active') expect((await project.api('DELETE', `/api/data/${collection}/${id}`)).status).toBe(200);
    }
  }
});

const all = ['active', 'of ann', 'of bob', 'of nobody'];

/** The documents of each collection that each caller sees with `include_deleted=true`. */
const cases: readonly (readonly [collection: string, caller: keyof typeof who, names: readonly string[]])[] = [
  ['shown', 'ann', all],
  ['shown', 'stranger', all],
  ['hidden', 'ann', ['active', 'of ann']],
  ['hidden', 'bob', ['active', 'of bob']],
  ['hidden', 'stranger', ['active']],
  ['hidden', 'server', all],
];

describe.each(cases)('the trash of "%s" for %s', (collection, caller, names) => {
  const ask = <T>(path: string, body?: unknown) =>
    project.api<{ data: T }>(body === undefined ? 'GET' : 'POST', `/api/data/${path}`, {
      ...who[caller],
      ...(body === undefined ? {} : { body }),
    });
  const aggregate = (at: string, pipeline: readonly object[]) =>
    ask<{ name: string; found: { name: string }[] }[]>(`${at}/aggregate?include_deleted=true`, { pipeline });
  const byName = (documents: readonly { name: string }[]) => documents.map(({ name }) => name).sort();

  test('200 in lists, with their totals and counts, by page and by cursor', async () => {
    for (const paging of ['limit=2&page=1', 'limit=2&cursor=', 'limit=100', 'sort=name&name_regex=a']) {
      const { body } = await ask<{ items: { name: string }[]; total: number }>(
        `${collection}?include_deleted=true&${paging}`,
      );
      expect(body.data.total).toBe(names.filter((name) => !paging.includes('regex') || name.includes('a')).length);
    }
    const { body } = await ask<{ items: { name: string }[] }>(`${collection}?include_deleted=true`);
    expect(byName(body.data.items)).toEqual(names);
    expect(await ask(`${collection}?include_deleted=true&count=true`)).toMatchObject({
      body: { data: { count: names.length } },
    });
    expect((await ask<{ items: { name: string }[] }>(collection)).body.data.items).toMatchObject([{ name: 'active' }]);
  });

  test('200 or 404 for a single document', async () => {
    for (const name of all) {
      const { status } = await ask(`${collection}/${idOf(collection, name)}?include_deleted=true`);
      expect([name, status]).toEqual([name, names.includes(name) ? 200 : 404]);
    }
  });

  test('200 in populated fields, which show a hidden document as missing', async () => {
    const { body } = await ask<{ items: { name: string; to: object | null }[] }>(
      `${collection}-links?include_deleted=true&populate=to`,
    );
    for (const { name, to } of body.data.items) {
      if (names.includes(name)) expect(to).toMatchObject({ name });
      else expect(to).toBeNull();
    }
  });

  test('200 in aggregations and in joins', async () => {
    expect(byName((await aggregate(collection, [{ $match: {} }])).body.data)).toEqual(names);
    const links = `${collection}-links`;
    const joins = [
      { $lookup: { from: collection, localField: 'to', foreignField: '_id', as: 'found' } },
      { $lookup: { from: collection, pipeline: [], as: 'found' } },
    ];
    for (const join of joins) {
      const { body } = await aggregate(links, [join]);
      const found = new Set(body.data.flatMap((link) => byName(link.found)));
      expect([...found].sort()).toEqual(names);
    }
    const graph = {
      $graphLookup: { from: collection, startWith: '$to', connectFromField: 'x', connectToField: '_id', as: 'found' },
    };
    const { status, body: walked } = await aggregate(links, [graph]);
    if (names.length < all.length) expect(status).toBe(400);
    else expect(new Set(walked.data.flatMap((link) => byName(link.found)))).toEqual(new Set(names));
    const union = await aggregate(links, [{ $match: { name: 'none' } }, { $unionWith: collection }]);
    expect(byName(union.body.data)).toEqual(names);
    const facet = await aggregate(collection, [{ $facet: { found: [{ $project: { name: 1 } }] } }]);
    expect(byName(facet.body.data[0]?.found ?? [])).toEqual(names);
  });
});

test('400 INVALID_CURSOR when a cursor names another user’s trashed document', async () => {
  const path = '/api/data/hidden?sort=secret&limit=1&include_deleted=true&cursor=';
  const walk = async (caller: RequestOptions): Promise<string[]> => {
    const cursors: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const answer: { body: { data: { nextCursor: string | null } } } = await project.api('GET', path + cursor, caller);
      cursor = answer.body.data.nextCursor;
      if (cursor) cursors.push(cursor);
    }
    return cursors;
  };
  const [, , ofBob = ''] = await walk(who.server);
  expect(await project.api('GET', path + ofBob, who.bob)).toMatchObject({ status: 200 });
  for (const query of ['', '&include_deleted=false']) {
    const asked = path.replace('&include_deleted=true', query) + ofBob;
    expect(await project.api('GET', asked, who.ann)).toMatchObject({ status: 400, body: { code: 'INVALID_CURSOR' } });
  }
});

test('200 with the setting in the schema; 400 VALIDATION_FAILED for any other setting', async () => {
  const rls = { enabled: true, mode: 'public-read', ownerField: 'userId' };
  for (const [name, trash] of [
    ['shown', 'everyone'],
    ['hidden', 'owner'],
  ] as const) {
    const { body } = await project.api<{ data: { collection: object } }>('GET', `/api/schemas/${name}`, who.stranger);
    expect(body.data.collection).toMatchObject({ rls: { ...rls, trash } });
  }
  const { developer, id } = project;
  expect(
    await developer.dashboard('POST', `/api/projects/${id}/collections`, {
      name: 'bad',
      schema: null,
      rls: { enabled: true, trash: 'nobody' },
    }),
  ).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ field: 'rls.trash' }] } });
});
