import { describe, expect, test } from 'vitest';
import type { Collection } from '../../../../shared/collections/collection.ts';
import { noRowSecurity } from '../../../../shared/collections/collection.ts';
import { rightHints } from '../../../../shared/collections/schema/right-hints.ts';
import { parseSchema } from '../../../../shared/collections/schema/schema.ts';
import { typesText } from '../../../../shared/documents/types/types-text.ts';
import { collectionSchemas } from '../../../../shared/http/openapi/collections.ts';
import { compile } from '../../../support/clients/compile.ts';

const text = (key: string, more: object = {}) => ({ key, type: 'String', ...more });

const products: Collection = {
  name: 'products',
  schema: parseSchema([
    text('title', { required: true }),
    text('cost', { read: 'server', required: true }),
    text('price', { write: 'server', required: true, default: '1' }),
    text('phone', { read: 'owner', required: true }),
    text('sku', { write: 'create' }),
    { key: 'meta', type: 'Object', fields: [text('note'), text('key', { read: 'server', write: 'server' })] },
    {
      key: 'lines',
      type: 'Array',
      items: { type: 'Object', fields: [text('name'), text('margin', { read: 'server' })] },
    },
    { key: 'maker', type: 'Ref', ref: 'products', read: 'server' },
  ]),
  rls: { ...noRowSecurity, enabled: true },
};

/** Returns one part of a collection’s types on one line. */
const part = (source: string, name: string): string =>
  (new RegExp(`\\n {4}${name}: ([^]*?)\\n {4}\\}`).exec(source)?.[1] ?? '').replaceAll(/\s+/g, ' ');

describe('types', () => {
  const [publishable, secret] = [typesText([products], 'publishable'), typesText([products], 'secret')];

  test('of the secret key have every field', () => {
    for (const name of ['document', 'insert', 'update', 'filter']) {
      for (const key of ['cost', 'price', 'phone']) expect(part(secret, name)).toContain(key);
    }
    expect(part(secret, 'document')).toContain('cost: string;');
    expect(part(secret, 'insert')).toContain('price?: string');
  });

  test('of a publishable key omit fields that only the server reads or sets, and make fields that may be hidden optional', () => {
    for (const name of ['document', 'filter']) {
      for (const key of ['cost', 'margin', 'key?', 'maker']) expect(part(publishable, name)).not.toContain(key);
    }
    expect(part(publishable, 'document')).toContain('phone?: string | null');
    expect(part(publishable, 'document')).toContain('price: string;');
    for (const name of ['insert', 'update']) {
      expect(part(publishable, name)).not.toContain('price');
      expect(part(publishable, name)).not.toContain('meta.key');
      expect(part(publishable, name)).toContain('cost');
      expect(part(publishable, name)).toContain('sku');
    }
    expect(part(publishable, 'refs')).not.toContain('maker');
  });

  test('compile', async () => {
    expect(await compile({ 'publishable.ts': publishable, 'secret.ts': secret })).toBe('');
  });

  test('are the same text for all keys when no field has rights', () => {
    const plain = { ...products, schema: parseSchema([text('a', { write: true, read: true })]) };
    expect(typesText([plain], 'publishable')).toBe(typesText([plain], 'secret'));
  });
});

describe('the API description', () => {
  const keysOf = (kind: 'publishable' | 'secret', name: 'document' | 'insert' | 'update') =>
    Object.keys(collectionSchemas(products, kind)[name].properties as object);

  test('omits fields that only the server reads or sets for a publishable key', () => {
    expect(keysOf('publishable', 'document')).not.toContain('cost');
    expect(keysOf('publishable', 'document')).not.toContain('maker');
    expect(keysOf('publishable', 'document')).toContain('phone');
    expect(collectionSchemas(products, 'publishable').document.required).not.toContain('phone');
    for (const name of ['insert', 'update'] as const) {
      expect(keysOf('publishable', name)).not.toContain('price');
      expect(keysOf('publishable', name)).toContain('cost');
      expect(keysOf('secret', name)).toContain('price');
    }
    expect(keysOf('secret', 'document')).toContain('cost');
    expect(collectionSchemas(products, 'secret').insert.required).toEqual(['title', 'cost', 'phone']);
  });
});

describe('hints', () => {
  test('name fields of users that suggest a right or a secret but have no rights', () => {
    const hints = rightHints([
      { key: 'Role' },
      { key: 'plan', write: 'server' },
      { key: 'credits', write: true },
      { key: 'limits', fields: [{ key: 'permissions' }] },
      { key: 'phone' },
      { key: 'address', read: 'owner', fields: [{ key: 'iban' }] },
      { key: 'date_of_birth' },
      { key: 'name' },
    ]);
    expect(hints).toHaveLength(2);
    expect(hints[0]).toContain('"Role", "limits.permissions"');
    expect(hints[1]).toContain('"phone", "date_of_birth"');
    expect(rightHints([{ key: 'name' }, { key: 'role', write: 'create' }])).toEqual([]);
  });
});
