import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { builtInKeys, builtInTemplates } from '../../../../shared/mail/templates/built-in.ts';
import { findTemplate, templateRecords } from '../../../../shared/mail/templates/templates.ts';
import { inParallel, tally } from '../../../support/clients/client.ts';
import { laterRefusalOf } from '../../../support/data/refusal.ts';
import { newProject, type TestProject } from '../../../support/fixtures/project.ts';

type Template = Readonly<Record<string, unknown>> & { readonly _id: string };
interface TemplateBody {
  readonly data: Template;
  readonly code: string;
  readonly message: string;
}
interface PageBody {
  readonly data: { readonly items: readonly Template[]; readonly total: number };
}

let project: TestProject;
let other: TestProject;

beforeAll(async () => {
  project = await newProject();
  other = await newProject();
});

const path = (id = '', of = project) => `/api/projects/${of.id}/mail/templates${id && `/${id}`}`;
const create = (body: unknown, of = project) => of.developer.dashboard<TemplateBody>('POST', path('', of), body);
const read = (id: string) => project.developer.dashboard<TemplateBody>('GET', path(id));
const edit = (id: string, body: unknown, method = 'PATCH') =>
  project.developer.dashboard<TemplateBody>(method, path(id), body);
const remove = (id: string) => project.developer.dashboard<TemplateBody>('DELETE', path(id));
const list = (query = '', of = project) => of.developer.dashboard<PageBody>('GET', `${path('', of)}${query}`);

const date = expect.stringMatching(/^\d{4}-.*Z$/);
const content = { subject: 'Hello {{name}}', html: '<p>{{name}}</p>', text: '{{name}}' };

let made = 0;
const newTemplate = async (input: Readonly<Record<string, unknown>> = {}): Promise<Template> => {
  const { status, body } = await create({ name: `Template ${++made}`, ...content, ...input });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.data;
};

describe('creating a template', () => {
  test('201 with key, html and text, which reads return unchanged', async () => {
    const { status, body } = await create({ name: ' Order shipped ', key: 'Order.Shipped', ...content });
    expect(status).toBe(201);
    const expected = { name: 'Order shipped', key: 'Order.Shipped', ...content, builtIn: false, updatedAt: date };
    expect(body.data).toEqual({ _id: expect.stringMatching(/^[0-9a-f]{24}$/), ...expected });
    expect((await read(body.data._id)).body.data).toEqual(body.data);
  });

  test('201 with text alone', async () => {
    const { body } = await create({ name: 'Plain', subject: 'x', text: 'x' });
    expect(body.data).toMatchObject({ key: null, html: null, text: 'x' });
  });

  test.each<[string, unknown, string, string]>([
    ['no content', { name: 'x', subject: 'x' }, 'INVALID_MAIL', 'Provide at least one of html or text content.'],
    ['blank content', { name: 'x', subject: 'x', text: ' ' }, 'INVALID_MAIL', 'Provide at least one of'],
    ['no subject', { name: 'x', text: 'x' }, 'VALIDATION_FAILED', 'subject is required'],
    ['no name', { subject: 'x', text: 'x' }, 'VALIDATION_FAILED', 'name is required'],
    [
      'a header injection',
      { name: 'x', subject: 'x\r\nBcc: a@example.com', text: 'x' },
      'VALIDATION_FAILED',
      'control',
    ],
    ['an operator as key', { name: 'x', key: { $ne: 1 }, subject: 'x', text: 'x' }, 'VALIDATION_FAILED', 'key'],
    ['an unknown field', { name: 'x', subject: 'x', text: 'x', from: 'x' }, 'VALIDATION_FAILED', 'from is not a known'],
    ['a list', [], 'INVALID_BODY', 'JSON object'],
    [
      'an account mail without link and code',
      { name: 'x', key: 'Verification', subject: 'x', text: 'x' },
      'INVALID_MAIL',
      'must show {{link}} or {{code}}',
    ],
  ])('400 for %s', async (_what, body, code, message) => {
    expect(await create(body)).toMatchObject({
      status: 400,
      body: { success: false, code, message: expect.stringContaining(message) },
    });
  });

  test.each([
    ['name', { name: 'TAKEN name' }],
    ['key', { name: 'free', key: 'TAKEN-key' }],
  ])('409 TEMPLATE_EXISTS for a %s that is taken, in any case', async (_what, input) => {
    await create({ name: 'Taken Name', key: 'taken-key', ...content });
    expect(await create({ ...content, ...input })).toMatchObject({ status: 409, body: { code: 'TEMPLATE_EXISTS' } });
  });

  test('409: exactly one of 50 concurrent requests with one key succeeds', async () => {
    const answers = await inParallel(50, (index) =>
      create({ name: `Race ${index}`, key: index % 2 ? 'race' : 'RACE', ...content }),
    );
    expect(tally(answers)).toEqual({ 201: 1, 409: 49 });
  });

  test('403 PLAN_LIMIT: exactly as many of 30 concurrent requests succeed as there is room for', async () => {
    const full = await newProject();
    const projectId = new ObjectId(full.id);
    const now = new Date();
    await templateRecords.insertMany(
      Array.from({ length: 90 }, (_, slot) => ({
        _id: new ObjectId(),
        projectId,
        slot,
        name: `T${slot}`,
        nameKey: `t${slot}`,
        key: null,
        keyKey: null,
        ...content,
        version: 1,
        createdAt: now,
        updatedAt: now,
      })),
    );
    const answers = await inParallel(30, (index) => create({ name: `New ${index}`, ...content }, full));
    expect(tally(answers)).toEqual({ 201: 10, 403: 20 });
    expect(answers.find(({ status }) => status === 403)?.body).toMatchObject({
      code: 'PLAN_LIMIT',
      message: expect.stringContaining('100 mail templates'),
    });
    expect((await list('?limit=100', full)).body.data).toMatchObject({ total: 100 + builtInKeys.length });
  });
});

describe('listing templates', () => {
  test('200: the project’s own by name, then the built-in ones, page by page, without html and text', async () => {
    const few = await newProject();
    for (const name of ['beta', 'Alpha']) await create({ name, ...content }, few);
    const { items, total } = (await list('', few)).body.data;
    const builtIn = builtInKeys.map((key) => builtInTemplates[key].name);
    expect(items.map(({ name }) => name)).toEqual(['Alpha', 'beta', ...builtIn]);
    expect(items.map((item) => item.builtIn)).toEqual([false, false, ...builtIn.map(() => true)]);
    expect(items[2]).toEqual({
      _id: 'welcome',
      key: 'welcome',
      name: 'Welcome',
      subject: 'Welcome to {{siteName}}',
      builtIn: true,
      updatedAt: null,
    });
    const last = Math.ceil(items.length / 3);
    const pages = await Promise.all([...Array(last + 1).keys()].map((n) => list(`?limit=3&page=${n + 1}`, few)));
    expect(pages.at(-1)?.body.data.items).toEqual([]);
    expect(pages.flatMap(({ body }) => body.data.items)).toEqual(items);
    expect(total).toBe(2 + builtIn.length);
  });

  test('is served by an index', async () => {
    const own = { projectId: new ObjectId(project.id) };
    const plan = await templateRecords.on((templates) =>
      templates.find(own).sort({ nameKey: 1 }).explain('queryPlanner'),
    );
    const winning = JSON.stringify((plan.queryPlanner as { winningPlan: unknown }).winningPlan);
    expect(winning).toContain('"indexName":"nameKey"');
    expect(winning).not.toMatch(/COLLSCAN|"SORT"/);
  });
});

describe('changing a template', () => {
  test.each(['PUT', 'PATCH'])('200 by %s: missing fields stay', async (method) => {
    const template = await newTemplate({ key: `change-${method}` });
    const { status, body } = await edit(template._id, { subject: 'New', html: null }, method);
    expect(status).toBe(200);
    expect(body.data).toEqual({ ...template, subject: 'New', html: null, updatedAt: date });
    expect((await read(template._id)).body.data).toEqual(body.data);
  });

  test('200: a cleared key can be used again', async () => {
    const template = await newTemplate({ key: 'cleared' });
    expect((await edit(template._id, { key: null })).body.data.key).toBeNull();
    await newTemplate({ key: 'CLEARED' });
    expect(await edit(template._id, { key: 'cleared' })).toMatchObject({
      status: 409,
      body: { code: 'TEMPLATE_EXISTS' },
    });
  });

  test('200: its current name in another case', async () => {
    const template = await newTemplate({ name: 'Own case' });
    expect((await edit(template._id, { name: 'OWN CASE' })).body.data.name).toBe('OWN CASE');
  });

  test('400: no template is left empty when 50 concurrent edits clear html or text', async () => {
    const template = await newTemplate();
    const answers = await inParallel(50, (index) => edit(template._id, index % 2 ? { html: null } : { text: null }));
    expect(Object.keys(tally(answers)).every((status) => ['200', '400', '503'].includes(status))).toBe(true);
    const { html, text } = (await read(template._id)).body.data;
    expect([html, text].filter((part) => part !== null)).toHaveLength(1);
  });

  test.each<[string, unknown, string]>([
    ['nothing', {}, 'NOTHING_TO_UPDATE'],
    ['no content left', { html: null, text: '' }, 'INVALID_MAIL'],
    ['a key that asks for link or code', { key: 'password-reset' }, 'INVALID_MAIL'],
    ['a name that is null', { name: null }, 'VALIDATION_FAILED'],
    ['an id', { _id: 'f'.repeat(24) }, 'VALIDATION_FAILED'],
  ])('400 for %s', async (_what, body, code) => {
    const template = await newTemplate();
    expect(await edit(template._id, body)).toMatchObject({ status: 400, body: { code } });
  });

  test('409 TEMPLATE_EXISTS for another template’s name', async () => {
    const [one, two] = [await newTemplate(), await newTemplate()];
    expect(await edit(two._id, { name: one.name })).toMatchObject({ status: 409, body: { code: 'TEMPLATE_EXISTS' } });
  });
});

describe('deleting a template', () => {
  test('200 once, then 404', async () => {
    const { _id } = await newTemplate();
    expect(await remove(_id)).toMatchObject({ status: 200, body: { data: { _id } } });
    for (const act of [read, remove]) {
      expect(await act(_id)).toMatchObject({ status: 404, body: { code: 'TEMPLATE_NOT_FOUND' } });
    }
  });
});

describe.each<[string, () => Promise<string> | string]>([
  ['of another project', async () => (await create({ name: 'Theirs', ...content }, other)).body.data._id],
  ['that does not exist', () => 'f'.repeat(24)],
  ['that is malformed', () => '__proto__'],
])('404 TEMPLATE_NOT_FOUND for a template %s', (_which, idOf) => {
  test('when read, changed and deleted', async () => {
    const id = await idOf();
    for (const answer of [await read(id), await edit(id, { name: 'x' }), await remove(id)]) {
      expect(answer).toMatchObject({ status: 404, body: { code: 'TEMPLATE_NOT_FOUND' } });
    }
    await templateRecords.deleteMany({ name: 'Theirs' });
  });
});

test('404 PROJECT_NOT_FOUND for every route of another developer’s project', async () => {
  const { _id } = (await create({ name: 'Kept', ...content }, other)).body.data;
  const { dashboard } = project.developer;
  for (const [method, url, body] of [
    ['GET', path('', other)],
    ['POST', path('', other), { name: 'x', ...content }],
    ['GET', path(_id, other)],
    ['PUT', path(_id, other), { name: 'x' }],
    ['DELETE', path(_id, other)],
  ] as const) {
    expect(await dashboard(method, url, body)).toMatchObject({ status: 404, body: { code: 'PROJECT_NOT_FOUND' } });
  }
});

test('a built-in template can be read by its key, but not changed or deleted: 404', async () => {
  expect((await read('welcome')).body.data).toMatchObject({
    builtIn: true,
    html: expect.stringContaining('{{siteName}}'),
  });
  for (const answer of [await edit('welcome', { name: 'x' }), await remove('welcome')]) {
    expect(answer).toMatchObject({ status: 404, body: { message: expect.stringContaining('built in') } });
  }
});

describe('an email finds its template', () => {
  const named = (of: TestProject) => ({ id: of.id, name: 'Notes' });

  test('by id, by name before key, in any case, and built-in ones last', async () => {
    const own = await newProject();
    const { _id } = (await create({ name: 'Both', key: 'first', subject: 'one', text: 'x' }, own)).body.data;
    await create({ name: 'First', key: 'second', subject: 'two', text: 'x' }, own);
    const subjects = await Promise.all(
      [
        { templateId: _id },
        { templateId: _id.toUpperCase() },
        { templateName: 'BOTH' },
        { templateName: 'first' },
        { templateName: 'Second' },
        { templateName: 'WELCOME' },
      ].map(async (reference) => (await findTemplate(named(own), reference)).subject),
    );
    expect(subjects).toEqual(['one', 'one', 'one', 'two', 'two', 'Welcome to {{siteName}}']);
    await create({ name: 'Mine', key: 'Welcome', subject: 'Mine', text: 'x' }, own);
    expect((await findTemplate(named(own), { templateName: 'welcome' })).subject).toBe('Mine');
  });

  test.each<[string, { readonly templateId: string } | { readonly templateName: string }]>([
    ['an unknown id', { templateId: 'f'.repeat(24) }],
    ['a malformed id', { templateId: 'welcome' }],
    ['an empty id', { templateId: '' }],
    ['an unknown name', { templateName: 'nothing of that name' }],
    ['an empty name', { templateName: '' }],
    ['a name of 100 000 characters', { templateName: 'x'.repeat(100_000) }],
    ['a name that objects have', { templateName: 'constructor' }],
  ])('TEMPLATE_NOT_FOUND for %s', async (_what, reference) => {
    expect((await laterRefusalOf(findTemplate(named(project), reference))).code).toBe('TEMPLATE_NOT_FOUND');
  });

  test('TEMPLATE_NOT_FOUND for id, name and key of another project', async () => {
    const { _id } = (await create({ name: 'Foreign', key: 'foreign-key', ...content }, other)).body.data;
    for (const reference of [{ templateId: _id }, { templateName: 'Foreign' }, { templateName: 'foreign-key' }]) {
      expect((await laterRefusalOf(findTemplate(named(project), reference))).code).toBe('TEMPLATE_NOT_FOUND');
    }
  });
});
