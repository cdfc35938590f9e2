import { describe, expect, test } from 'vitest';
import type { Collection } from '../../../../shared/collections/collection.ts';
import type { JsonObject } from '../../../../shared/documents/document.ts';
import { newDocument } from '../../../../shared/documents/store/new-document.ts';
import type { Caller } from '../../../../shared/projects/project.ts';
import { refusalOf } from '../../../support/data/refusal.ts';
import { everything, owned, ownedPrivately, schemaFree } from '../collections.ts';

const secret: Caller = { kind: 'secret' };
const ann: Caller = { kind: 'publishable', userId: 'ann' };
const now = Date.UTC(2026, 0, 2);

const made = (collection: Collection, caller: Caller, body: JsonObject) =>
  newDocument(collection, caller, body, now).document;

describe('a new document', () => {
  test('has its id first, the fields as sent, then the system fields', () => {
    const document = made(everything, secret, { _id: 'mine', at: '2026-01-01', title: 't', isDeleted: true });
    expect(Object.keys(document).join(' ')).toBe('_id at title views isDeleted deletedAt createdAt updatedAt _rev');
    expect(JSON.parse(JSON.stringify(document))).toEqual({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      at: '2026-01-01T00:00:00.000Z',
      title: 't',
      views: 0,
      isDeleted: false,
      deletedAt: null,
      createdAt: '2026-01-02T00:00:00.000Z',
      updatedAt: '2026-01-02T00:00:00.000Z',
      _rev: 1,
    });
  });

  test('keeps values as sent when there is no schema', () =>
    expect(made(schemaFree, secret, { at: '2026-01-01', n: null, a: [{}] })).toMatchObject({
      at: '2026-01-01',
      n: null,
      a: [{}],
    }));

  test.each<[string, Caller, JsonObject, unknown]>([
    ['the user who inserts it', ann, {}, 'ann'],
    ['the user whose body contains the own id', ann, { userId: 'ann' }, 'ann'],
    ['the owner that the secret key sends', secret, { userId: 'bob' }, 'bob'],
    ['no owner when the secret key sends none', secret, {}, undefined],
    ['no owner when the secret key sends null', secret, { userId: null }, null],
  ])('belongs to %s', (_whom, caller, body, owner) => {
    expect(made(owned, caller, { task: 'x', ...body }).userId).toBe(owner);
    expect(made(ownedPrivately, caller, body).userId).toBe(owner);
  });

  test('has no owner without row security', () =>
    expect(made(schemaFree, secret, { a: 1 })).not.toHaveProperty('userId'));
});

describe('403', () => {
  test.each<[unknown]>([['bob'], [''], [5], [null], [true], [['ann']], [{ $ne: null }]])(
    'NOT_OWNER when a user sends %j as owner',
    (userId) => {
      expect(refusalOf(() => made(owned, ann, { task: 'x', userId })).code).toBe('NOT_OWNER');
      expect(refusalOf(() => made(ownedPrivately, ann, { userId })).code).toBe('NOT_OWNER');
    },
  );
});

describe('400', () => {
  test('VALIDATION_FAILED comes before ownership', () =>
    expect(refusalOf(() => made(owned, ann, { userId: 'bob' })).message).toBe('Validation failed: task is required'));

  test.each<[unknown]>([[5], [['bob']], [{}]])('VALIDATION_FAILED when the secret key sends %j as owner', (userId) =>
    expect(refusalOf(() => made(ownedPrivately, secret, { userId })).message).toBe(
      'Validation failed: userId must be a String',
    ),
  );
});

describe('413', () => {
  const bytes = (count: number) => ({ a: 'x'.repeat(count) });
  const { size } = newDocument(schemaFree, secret, bytes(0), now);
  const limit = 4 * 1024 * 1024;

  test('DOCUMENT_TOO_LARGE from one byte over 4 MiB of BSON', () => {
    expect(newDocument(schemaFree, secret, bytes(limit - size), now).size).toBe(limit);
    expect(refusalOf(() => made(schemaFree, secret, bytes(limit - size + 1))).code).toBe('DOCUMENT_TOO_LARGE');
  });
});
