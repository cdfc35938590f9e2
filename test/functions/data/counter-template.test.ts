import { beforeAll, describe, expect, test } from 'vitest';
import { fillTemplate } from '../../../console/pages/effects/effect-templates.ts';
import { type Collection, type Field, noRowSecurity } from '../../../shared/collections/collection.ts';
import { inParallel } from '../../support/clients/client.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

/* The console's template "Keep a counter", carried out: the count stays right whatever happens to the documents. */

let project: TestProject;
let ikea = '';
let muji = '';

const made = async (collection: string, body: object): Promise<string> => {
  const { status, body: document } = await project.api<{ _id: string }>('POST', `/api/data/${collection}`, { body });
  expect(status).toBe(201);
  return document._id;
};

const change = async (path: string, body: object) => {
  const response = await project.api('PATCH', `/api/data/${path}`, { body });
  expect(response.status, JSON.stringify(response.body)).toBe(200);
};

const countsOf = (field: string) =>
  Promise.all(
    [ikea, muji].map(async (id) => {
      const { body } = await project.api<Record<string, number | undefined>>('GET', `/api/data/makers/${id}`);
      return body[field] ?? 0;
    }),
  );

const makers: Collection = {
  name: 'makers',
  schema: ['chairs', 'lamps'].map((key) => ({ key, type: 'Number', required: false, unique: false })),
  rls: noRowSecurity,
};

/** A collection with the template's effects, which count in the field of the same name. */
const counted = (name: string, required: boolean) => {
  const maker: Field = { key: 'maker', type: 'Ref', ref: 'makers', required, unique: false };
  const collection: Collection = { name, schema: [maker], rls: noRowSecurity };
  const sources = { collection, known: [collection, makers], mails: [] };
  const { effects, lacks } = fillTemplate('counter', sources, { ref: 'maker', field: name });
  expect(lacks).toBeUndefined();
  return { name, schema: [{ key: 'maker', type: 'Ref', ref: 'makers', required }], effects };
};

beforeAll(async () => {
  project = await newProject();
  await project.addCollection({
    name: 'makers',
    schema: [
      { key: 'chairs', type: 'Number' },
      { key: 'lamps', type: 'Number' },
    ],
  });
  await project.addCollection(counted('chairs', true));
  await project.addCollection(counted('lamps', false));
  ikea = await made('makers', {});
  muji = await made('makers', {});
});

describe('a counter made by the template', () => {
  test('follows a required reference', async () => {
    const ids = await Promise.all([ikea, ikea, muji].map((maker) => made('chairs', { maker })));
    expect(await countsOf('chairs')).toEqual([2, 1]);
    await change(`chairs/${ids[0]}`, { maker: muji });
    await change(`chairs/${ids[1]}`, { color: 'red' });
    expect(await countsOf('chairs')).toEqual([1, 2]);
    await project.api('DELETE', `/api/data/chairs/${ids[0]}`);
    expect(await countsOf('chairs')).toEqual([1, 1]);
  });

  test('follows a reference that is missing, set, changed and removed', async () => {
    const id = await made('lamps', {});
    expect(await countsOf('lamps')).toEqual([0, 0]);
    await change(`lamps/${id}`, { maker: ikea });
    expect(await countsOf('lamps')).toEqual([1, 0]);
    await change(`lamps/${id}`, { maker: muji });
    expect(await countsOf('lamps')).toEqual([0, 1]);
    await change(`lamps/${id}`, { maker: null });
    expect(await countsOf('lamps')).toEqual([0, 0]);
    await change(`lamps/${id}`, { maker: ikea });
    await project.api('DELETE', `/api/data/lamps/${id}`);
    expect(await countsOf('lamps')).toEqual([0, 0]);
    await project.api('DELETE', `/api/data/lamps/${await made('lamps', {})}`);
    expect(await countsOf('lamps')).toEqual([0, 0]);
  });

  test('counts one of 50 concurrent changes to the same reference', async () => {
    const id = await made('chairs', { maker: ikea });
    const [before = 0, other = 0] = await countsOf('chairs');
    await inParallel(50, () => project.api('PATCH', `/api/data/chairs/${id}`, { body: { maker: muji } }));
    expect(await countsOf('chairs')).toEqual([before - 1, other + 1]);
  });
});
