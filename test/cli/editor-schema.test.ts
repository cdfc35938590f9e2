import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { schemaFileSchema } from '../../infra/build/cli-schema.ts';

// The formats and the patterns of texts are for editors.
const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schemaFileSchema());

const file = (schema: object[], more: object = {}) => ({ version: 1, collections: { posts: { schema, ...more } } });

test('the JSON Schema of basalt.schema.json accepts what a push accepts', () => {
  const fields = [
    { key: 'title', type: 'String', required: true, maxLength: 100, searchable: true },
    { key: 'author', type: 'Ref', ref: 'users', onDelete: 'unset', write: 'server' },
    { key: 'tags', type: 'Array', items: { type: 'String' } },
    { key: 'address', type: 'Object', fields: [{ key: 'city', type: 'String' }] },
  ];
  const more = {
    rls: { enabled: true, mode: 'private' },
    unique: [['title']],
    indexes: [{ keys: { title: 1 } }],
    changes: true,
  };
  const rest = {
    $schema: './node_modules/@basalt/cli/dist/schema.json',
    settings: { siteUrl: 'https://shop.example.com', signIn: { emailCode: true }, providerApiKey: `\${MAIL_KEY}` },
    templates: { Receipt: { subject: 'Your order', html: '<p>Thank you</p>' } },
    webhooks: [{ url: 'https://example.com/hook', events: ['document.created'] }],
  };
  for (const each of [
    { version: 1, collections: {} },
    { ...file(fields, more), ...rest },
    { version: 1, collections: { notes: { schema: null } } },
  ]) {
    validate(each);
    expect(validate.errors ?? []).toEqual([]);
  }
});

test.each([
  ['a missing version', { collections: {} }],
  ['an unknown part', { version: 1, collections: {}, more: 1 }],
  ['an unknown type', file([{ key: 'title', type: 'Text' }])],
  ['an unknown option of a collection', file([{ key: 'title', type: 'String' }], { row: true })],
  ['a field without key', file([{ type: 'String' }])],
  ['a secret in plain text', { version: 1, collections: {}, settings: { providerApiKey: 're_8Hq2mWcY' } }],
])('the JSON Schema of basalt.schema.json rejects %s', (_what, content) => {
  expect(validate(content)).toBe(false);
});
