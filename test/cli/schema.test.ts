import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type CommandFolder, newCommandFolder, newLinkedFolder } from '../support/fixtures/command.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

const folders: CommandFolder[] = [];

const linkedTo = async (project: TestProject): Promise<CommandFolder> => {
  const folder = await newLinkedFolder(project);
  folders.push(folder);
  return folder;
};

afterAll(async () => void (await Promise.all(folders.map((folder) => folder.remove()))));

const posts = {
  schema: [
    { key: 'title', type: 'String', required: true },
    { key: 'views', type: 'Number', default: 0 },
    { key: 'published', type: 'Boolean', default: false },
    { key: 'tags', type: 'Array', items: { type: 'String' } },
    { key: 'address', type: 'Object', fields: [{ key: 'city', type: 'String' }] },
  ],
};

/** The reference to an environment variable in a file. */
const placeholder = (name: string): string => `\${${name}}`;

const file = <C extends object>(collections: C, more: object = {}) => ({ version: 1, collections, ...more });

const rulesOf = (read: object) => ({ enabled: true, mode: 'rules', rules: { read } });

const complete = file(
  {
    users: {
      schema: [
        { key: 'email', type: 'String', required: true },
        { key: 'password', type: 'String', required: true },
        { key: 'team', type: 'String', write: 'server' },
      ],
    },
    posts: {
      ...posts,
      rls: { enabled: true, mode: 'private' },
      unique: [['title', 'views'], { fields: ['title'], ignoreCase: true }],
      changes: true,
      closed: true,
      indexes: [{ keys: { views: -1, title: 1 } }, { name: 'city', keys: { 'address.city': 1 } }],
      searchLanguage: 'english',
    },
    // Each has a rule that reads the other one, so neither can be created first with its rules.
    orders: {
      schema: [
        { key: 'shop', type: 'String' },
        { key: 'paid', type: 'Boolean' },
      ],
      effects: [
        { on: ['create', 'update'], where: { shop: 'a' }, set: { paid: false } },
        {
          on: 'create',
          writes: [{ op: 'insert', collection: 'shops', document: { code: { $doc: 'shop' } } }],
          mail: { template: 'order-confirmation', to: { $user: 'email' } },
        },
      ],
      rls: rulesOf({ shop: { $in: { $from: 'shops', select: 'code', where: { open: true } } } }),
    },
    shops: {
      schema: [
        { key: 'code', type: 'String' },
        { key: 'open', type: 'Boolean' },
      ],
      rls: rulesOf({ code: { $in: { $from: 'orders', select: 'shop', where: { paid: true } } } }),
    },
  },
  {
    settings: {
      siteUrl: placeholder('SITE_URL'),
      allowedDomains: ['https://b.example.com', 'https://a.example.com'],
      authEnabled: true,
      signIn: { emailCode: true },
      providerApiKey: placeholder('MAIL_KEY'),
      socialProviders: {
        github: { enabled: true, clientId: 'Iv1.8a61f9b3a7aba766', clientSecret: placeholder('GITHUB_SECRET') },
      },
    },
    templates: { Receipt: { subject: 'Your order', html: '<p>Thank you for {{order}}</p>' } },
    webhooks: [{ url: 'https://1.1.1.1', events: ['document.updated', 'document.created'], collections: ['posts'] }],
  },
);

const env = { SITE_URL: 'https://shop.example.com', MAIL_KEY: 're_8Hq2mWcY', GITHUB_SECRET: 'a-client-secret' };

const push = (folder: CommandFolder, ...args: string[]) => folder.basalt(['push', '--yes', ...args], { env });

describe('basalt push', () => {
  let project: TestProject;
  let folder: CommandFolder;

  beforeAll(async () => {
    project = await newProject();
    folder = await linkedTo(project);
    await folder.write('basalt.schema.json', complete);
  });

  test('creates everything that the file describes, also collections whose rules need each other', async () => {
    expect(await folder.basalt(['diff'], { env })).toMatchObject({
      code: 1,
      out: expect.stringContaining('+ collection shops'),
    });
    const pushed = await push(folder);
    expect(pushed).toMatchObject({
      code: 0,
      out: expect.stringMatching(/Not set:\n {2}webhook https:\/\/1.1.1.1\/: /),
    });
    expect(await folder.basalt(['diff'], { env })).toEqual({ code: 0, out: 'No differences.\n', notes: '' });
    expect(await push(folder)).toEqual({ code: 0, out: 'The project is up to date.\n', notes: '' });
    const { dashboard } = project.developer;
    const shops = await dashboard<{ data: { rls: object } }>('GET', `/api/projects/${project.id}/collections/shops`);
    expect(shops.body.data.rls).toMatchObject({
      enabled: true,
      mode: 'rules',
      rules: complete.collections.shops.rls.rules,
    });
    const { body } = await dashboard<{ data: object }>('GET', `/api/projects/${project.id}`);
    expect(body.data).toMatchObject({
      hasProviderApiKey: true,
      siteUrl: env.SITE_URL,
      signIn: { password: true, emailCode: true },
      socialProviders: { github: { enabled: true, hasClientSecret: true } },
    });
  });

  test('makes another project the same, which a pull of the first confirms', async () => {
    const other = await linkedTo(await newProject([], project.developer));
    expect((await folder.basalt(['pull'], { env })).code).toBe(0);
    const text = await folder.read('basalt.schema.json');
    for (const secret of [...Object.values(env), project.secretKey]) expect(text).not.toContain(secret);
    expect(text).toContain(placeholder('GITHUB_SECRET'));
    await other.write('basalt.schema.json', text);
    expect((await push(other)).code).toBe(0);
    expect((await other.basalt(['diff'], { env })).code).toBe(0);
    expect(await folder.basalt(['pull'], { env })).toMatchObject({
      code: 0,
      out: 'basalt.schema.json is up to date.\n',
    });
  });

  test('ends with 2 and changes nothing when a field or collection would be lost, until --allow-loss', async () => {
    const { shops: _shops, orders: _orders, ...kept } = complete.collections;
    const fewer = {
      ...complete,
      collections: { ...kept, posts: { ...kept.posts, schema: posts.schema.slice(0, 4), indexes: [] } },
    };
    await folder.write('basalt.schema.json', fewer);
    const refused = await push(folder);
    expect(refused).toMatchObject({ code: 2, notes: expect.stringContaining('--allow-loss') });
    for (const lost of [
      'collection shops with 0 documents',
      'collection orders',
      'field address',
      'field address.city',
    ]) {
      expect(refused.notes).toContain(lost);
    }
    expect((await folder.basalt(['diff', '--json'], { env })).out).toContain('"equal":false');
    expect((await push(folder, '--allow-loss')).code).toBe(0);
    expect((await folder.basalt(['diff'], { env })).code).toBe(0);
  });

  test('ends with 2 and changes nothing when it cannot ask and has no --yes', async () => {
    await folder.write('basalt.schema.json', {
      ...complete,
      collections: { ...complete.collections, more: { schema: null } },
    });
    expect(await folder.basalt(['push'], { env })).toMatchObject({ code: 2, notes: expect.stringContaining('--yes') });
    expect(await folder.basalt(['push'], { env, agrees: false })).toMatchObject({
      code: 2,
      notes: expect.stringContaining('Cancelled'),
    });
    expect((await folder.basalt(['diff'], { env })).code).toBe(1);
    expect((await folder.basalt(['push'], { env, agrees: true })).code).toBe(0);
    expect((await folder.basalt(['diff'], { env })).code).toBe(0);
  });

  test('409 SCHEMA_CONFLICT ends it with 2 when stored documents do not fit, and the documents stay', async () => {
    const other = await newProject([{ name: 'notes', schema: [{ key: 'text', type: 'String' }] }]);
    const place = await linkedTo(other);
    await other.api('POST', '/api/data/notes', { body: { text: 'first' } });
    await place.write('basalt.schema.json', file({ notes: { schema: [{ key: 'text', type: 'Number' }] } }));
    const { code, notes } = await push(place);
    expect({ code, notes }).toEqual({ code: 2, notes: expect.stringContaining('SCHEMA_CONFLICT') });
    const list = await other.api<{ data: { items: { text: string }[] } }>('GET', '/api/data/notes');
    expect(list.body.data.items).toMatchObject([{ text: 'first' }]);
  });
});

test('basalt push lists secrets that the environment lacks, and a provider without its secret stays off', async () => {
  const project = await newProject();
  const folder = await linkedTo(project);
  await folder.write('basalt.schema.json', complete);
  const pushed = await folder.basalt(['push', '--yes'], { env: { SITE_URL: env.SITE_URL } });
  expect(pushed.code).toBe(0);
  for (const missing of ['MAIL_KEY is not set', 'GITHUB_SECRET is not set', 'socialProviders.github stays off']) {
    expect(pushed.out).toContain(missing);
  }
  const { body } = await project.developer.dashboard<{ data: object }>('GET', `/api/projects/${project.id}`);
  expect(body.data).toMatchObject({ hasProviderApiKey: false, socialProviders: { github: { enabled: false } } });
  // The secrets come later.
  expect((await push(folder)).code).toBe(0);
  expect((await folder.basalt(['diff'], { env })).code).toBe(0);
});

test('basalt push changes fields that rules of two collections need, in an order that the service accepts', async () => {
  const folder = await linkedTo(await newProject());
  const shops = {
    schema: [
      { key: 'code', type: 'String' },
      { key: 'open', type: 'Boolean' },
    ],
  };
  const named = (field: string) =>
    rulesOf({ shop: { $in: { $from: 'shops', select: 'code', where: { [field]: true } } } });
  const orders = { schema: [{ key: 'shop', type: 'String' }], rls: named('open') };
  await folder.write('basalt.schema.json', file({ shops, orders }));
  expect((await push(folder)).code).toBe(0);
  const renamed = {
    schema: [
      { key: 'code', type: 'String' },
      { key: 'isOpen', type: 'Boolean' },
    ],
  };
  await folder.write('basalt.schema.json', file({ shops: renamed, orders: { ...orders, rls: named('isOpen') } }));
  const pushed = await push(folder, '--allow-loss');
  expect(pushed).toMatchObject({ code: 0 });
  expect((await folder.basalt(['diff'])).code).toBe(0);
});

test('basalt push changes effects together with the fields of other collections that they read', async () => {
  const folder = await linkedTo(await newProject());
  const withPrice = (field: string, effect: object) => ({
    products: { schema: [{ key: field, type: 'Number', write: 'server' }] },
    orders: {
      schema: [
        { key: 'product', type: 'Ref', ref: 'products' },
        { key: 'price', type: 'Number', write: 'server' },
      ],
      effects: [{ on: 'create', set: effect }],
    },
  });
  await folder.write('basalt.schema.json', file(withPrice('price', { price: { $doc: 'product.price' } })));
  expect(await push(folder)).toMatchObject({ code: 0 });
  expect(await folder.basalt(['diff'])).toMatchObject({ code: 0 });
  await folder.write('basalt.schema.json', file(withPrice('cents', { price: { $doc: 'product.cents' } })));
  expect(await push(folder, '--allow-loss')).toMatchObject({ code: 0 });
  expect(await folder.basalt(['diff'])).toMatchObject({ code: 0 });
  await folder.write('basalt.schema.json', file({}));
  expect(await push(folder, '--allow-loss')).toMatchObject({ code: 0 });
  expect(await folder.basalt(['diff'])).toMatchObject({ code: 0 });
});

test('basalt push deletes collections whose rules name each other', async () => {
  const folder = await linkedTo(await newProject());
  const { orders, shops } = complete.collections;
  await folder.write('basalt.schema.json', file({ orders, shops }));
  expect((await push(folder)).code).toBe(0);
  await folder.write('basalt.schema.json', file({}));
  expect(await push(folder, '--allow-loss')).toMatchObject({ code: 0 });
  expect((await folder.basalt(['diff'])).code).toBe(0);
});

test('basalt diff compares meaning, not text', async () => {
  const folder = await linkedTo(await newProject());
  await folder.write('basalt.schema.json', file({ posts }));
  expect((await push(folder)).code).toBe(0);
  const [title, views, ...rest] = posts.schema;
  const written = [
    { required: true, type: 'String', unique: false, key: 'title' },
    { ...views, required: false },
    ...rest,
  ];
  await folder.write(
    'basalt.schema.json',
    file(
      {
        posts: { changes: false, indexes: [], rls: { enabled: false, mode: 'private' }, schema: written, unique: null },
      },
      { settings: { allowedDomains: ['*'], signIn: { password: true } }, templates: {}, webhooks: [] },
    ),
  );
  expect(await folder.basalt(['diff'])).toEqual({ code: 0, out: 'No differences.\n', notes: '' });
  await folder.write('basalt.schema.json', file({ posts: { schema: [views, title, ...rest] } }));
  expect(await folder.basalt(['diff'])).toMatchObject({ code: 1, out: expect.stringContaining('order of fields') });
});

describe('basalt.schema.json', () => {
  test.each([
    ['{', 'not valid JSON'],
    [{ collections: {} }, 'version must be 1'],
    [{ version: 1, collections: [] }, 'collections must be an object'],
    [file({}, { more: 1 }), 'more is not known'],
    [file({ posts: { fields: [] } }), 'collections.posts.fields is not known'],
    [file({ posts: { schema: [{ key: 'a' }] } }), 'collections.posts.schema.0 needs key and type'],
    [file({}, { settings: { name: 'a' } }), 'settings.name is not known'],
    [file({}, { settings: { providerApiKey: 're_8Hq2mWcY' } }), 'settings.providerApiKey is a secret'],
    [
      file({}, { settings: { socialProviders: { github: { clientSecret: 'a' } } } }),
      'settings.socialProviders.github.clientSecret is a secret',
    ],
    [file({}, { settings: { siteUrl: placeholder('NO_SUCH_NAME') } }), 'needs the environment variable NO_SUCH_NAME'],
  ])('ends every command with 2 when it is %j', async (content, message) => {
    const folder = await newCommandFolder('no-token');
    folders.push(folder);
    await folder.write('basalt.config.json', { url: inject('stack').dashboardUrl, projectId: '0'.repeat(24) });
    await folder.write('basalt.schema.json', content);
    for (const command of [['diff'], ['push', '--yes']]) {
      expect(await folder.basalt(command)).toMatchObject({ code: 2, notes: expect.stringContaining(message) });
    }
  });

  test('ends diff with 2 when it does not exist', async () => {
    const folder = await newCommandFolder('no-token');
    folders.push(folder);
    expect(await folder.basalt(['diff'])).toMatchObject({ code: 2, notes: expect.stringContaining('Run basalt pull') });
  });
});
