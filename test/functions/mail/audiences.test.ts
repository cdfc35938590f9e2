import { beforeAll, describe, expect, test } from 'vitest';
import { newMailProject } from '../../support/fixtures/mail-project.ts';
import type { TestProject } from '../../support/fixtures/project.ts';

interface Provided {
  readonly success: true;
  readonly data: { readonly id: string; readonly data: readonly Record<string, unknown>[]; readonly has_more: boolean };
  readonly message: string;
}

const audiences = '/api/mail/audiences';
let project: TestProject;
let other: TestProject;

beforeAll(async () => {
  [project, other] = await Promise.all([newMailProject('free'), newMailProject('free')]);
});

const ask = (method: string, path: string, body?: unknown, by = project) =>
  by.api<Provided>(method, path, body === undefined ? {} : { body });

const newAudience = async (): Promise<string> => (await ask('POST', audiences, { name: 'Readers' })).body.data.id;

const newContact = async (audienceId: string, email: string): Promise<string> =>
  (await ask('POST', `${audiences}/${audienceId}/contacts`, { email })).body.data.id;

const contactsIn = async (audienceId: string) =>
  (await ask('GET', `${audiences}/${audienceId}/contacts`)).body.data.data;

describe('An audience', () => {
  test('201 with the response of the provider', async () => {
    expect(await ask('POST', audiences, { name: ' Readers ' })).toMatchObject({
      status: 201,
      body: {
        success: true,
        data: { id: expect.any(String), name: 'Readers' },
        message: 'Audience created successfully.',
      },
    });
  });

  test('200 in the list until it is deleted', async () => {
    const id = await newAudience();
    const listed = await ask('GET', audiences);
    expect(listed).toMatchObject({ status: 200, body: { success: true, data: { object: 'list' } } });
    expect(listed.body.data.data).toContainEqual(expect.objectContaining({ id, name: 'Readers' }));
    expect(await ask('DELETE', `${audiences}/${id}`)).toMatchObject({
      status: 200,
      body: { success: true, data: { id, deleted: true }, message: 'Audience deleted successfully.' },
    });
    expect((await ask('GET', audiences)).body.data.data).not.toContainEqual(expect.objectContaining({ id }));
  });

  test('200 page by page', async () => {
    const own = await newMailProject('free');
    const made = [];
    for (const name of ['a', 'b', 'c']) made.push((await ask('POST', audiences, { name }, own)).body.data.id);
    const page = await ask('GET', `${audiences}?limit=2`, undefined, own);
    expect(page.body.data).toMatchObject({ has_more: true, data: [{ id: made[2] }, { id: made[1] }] });
    const rest = await ask('GET', `${audiences}?limit=2&after=${made[1]}`, undefined, own);
    expect(rest.body.data).toMatchObject({ has_more: false, data: [{ id: made[0] }] });
  });

  test.each<readonly [string, unknown, string]>([
    ['without a name', {}, 'Validation failed: name is required'],
    ['with an empty name', { name: ' ' }, 'Validation failed: name must not be empty'],
    [
      'with a name of 201 characters',
      { name: 'x'.repeat(201) },
      'Validation failed: name must have at most 200 characters',
    ],
    ['with a number for a name', { name: 1 }, 'Validation failed: name must be a String'],
    ['with a field nobody knows', { name: 'x', id: '1' }, 'Validation failed: id is not a known field'],
  ])('400 %s', async (_, body, message) => {
    expect(await ask('POST', audiences, body)).toMatchObject({ status: 400, body: { success: false, message } });
  });

  test.each(['limit=0', 'limit=101', 'limit=x', 'after=a/b', 'before=', 'after=a&before=b', 'page=2'])(
    '400 for a list with %s',
    async (query) => {
      expect(await ask('GET', `${audiences}?${query}`)).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
    },
  );
});

describe('A contact', () => {
  const full = { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace', unsubscribed: true };

  test('201 with all its fields', async () => {
    const audienceId = await newAudience();
    expect(await ask('POST', `${audiences}/${audienceId}/contacts`, full)).toMatchObject({
      status: 201,
      body: { success: true, data: { id: expect.any(String) }, message: 'Contact created successfully.' },
    });
    expect(await contactsIn(audienceId)).toMatchObject([
      { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace', unsubscribed: true },
    ]);
  });

  test.each<readonly [string, Record<string, unknown>, Record<string, unknown>]>([
    ['unsubscribed', { unsubscribed: true }, { unsubscribed: true }],
    ['a first name', { firstName: 'Grace' }, { first_name: 'Grace' }],
    ['a last name, cleared', { lastName: null }, { last_name: null }],
    ['everything', { ...full, email: 'new@example.com' }, { email: 'new@example.com', first_name: 'Ada' }],
  ])('200 when %s changes', async (_, changes, expected) => {
    const audienceId = await newAudience();
    const id = await newContact(audienceId, 'c@example.com');
    const answer = await ask('PATCH', `${audiences}/${audienceId}/contacts/${id}`, changes);
    expect(answer).toMatchObject({ status: 200, body: { success: true, data: { id } } });
    expect(await contactsIn(audienceId)).toMatchObject([expected]);
  });

  test('200 when it is named by its address', async () => {
    const audienceId = await newAudience();
    const email = "o'hara+a/b?c#d&e=%f@example.com";
    await newContact(audienceId, email);
    const path = `${audiences}/${audienceId}/contacts/${encodeURIComponent(email)}`;
    expect(await ask('PATCH', path, { unsubscribed: true })).toMatchObject({ status: 200 });
    expect(await contactsIn(audienceId)).toMatchObject([{ email, unsubscribed: true }]);
    expect(await ask('DELETE', path)).toMatchObject({ status: 200, body: { data: { deleted: true } } });
    expect(await contactsIn(audienceId)).toEqual([]);
  });

  test.each<readonly [string, unknown, string]>([
    ['without an address', {}, 'email is required'],
    [
      'with an address that is none',
      { email: 'ada' },
      'email must be an email address of at most 254 characters, in ASCII (write a domain such as bücher.example as xn--bcher-kva.example)',
    ],
    [
      'with a line break in its address',
      { email: 'a@b.cd\r\nBcc: x@y.zz' },
      'email must be an email address of at most 254 characters, in ASCII (write a domain such as bücher.example as xn--bcher-kva.example)',
    ],
    ['with a number for a name', { email: 'a@b.cd', firstName: 1 }, 'firstName must be a String or null'],
    ['with a text for a flag', { email: 'a@b.cd', unsubscribed: 'no' }, 'unsubscribed must be a Boolean'],
    ['with a field nobody knows', { email: 'a@b.cd', tags: [] }, 'tags is not a known field'],
  ])('400 %s', async (_, body, message) => {
    const answer = await ask('POST', `${audiences}/x/contacts`, body);
    expect(answer).toMatchObject({ status: 400, body: { message: `Validation failed: ${message}` } });
  });

  test('400 when no field changes', async () => {
    expect(await ask('PATCH', `${audiences}/x/contacts/y`, {})).toMatchObject({
      status: 400,
      body: { message: 'Name at least one field to change.' },
    });
  });
});

describe('Something that the provider does not have', () => {
  const id = '78261eea-8f8b-4381-83c6-79fa7120f1cf';

  test.each<readonly [string, string, unknown]>([
    ['DELETE', id, undefined],
    ['GET', `${id}/contacts`, undefined],
    ['POST', `${id}/contacts`, { email: 'a@b.cd' }],
    ['PATCH', `${id}/contacts/x`, { unsubscribed: true }],
    ['DELETE', `${id}/contacts/x`, undefined],
  ])('404 %s %s, with the provider’s message', async (method, path, body) => {
    expect(await ask(method, `${audiences}/${path}`, body)).toMatchObject({
      status: 404,
      body: { success: false, code: 'MAIL_PROVIDER_NOT_FOUND', message: 'The mail provider says: Audience not found' },
    });
  });

  test('404 when it belongs to another project', async () => {
    const audienceId = await newAudience();
    const contactId = await newContact(audienceId, 'mine@example.com');
    const paths = [
      ['DELETE', audienceId],
      ['GET', `${audienceId}/contacts`],
      ['DELETE', `${audienceId}/contacts/${contactId}`],
    ] as const;
    for (const [method, path] of paths) {
      expect(await ask(method, `${audiences}/${path}`, undefined, other)).toMatchObject({ status: 404 });
    }
    expect((await ask('GET', audiences, undefined, other)).body.data.data).toEqual([]);
    expect(await contactsIn(audienceId)).toHaveLength(1);
  });

  test.each(['%252e%252e', '..%2Femails', '%252e', 'x%2F..%2F..%2Fapi-keys', 'a%3Fb', 'a%23b', 'a%5Cb'])(
    '404 when the id would name another path at the provider: %s',
    async (hostile) => {
      const answers = [
        await ask('DELETE', `${audiences}/${hostile}`),
        await ask('GET', `${audiences}/${hostile}/contacts`),
        await ask('DELETE', `${audiences}/${await newAudience()}/contacts/${hostile}`),
      ];
      for (const answer of answers) {
        expect(answer).toMatchObject({ status: 404, body: { code: 'MAIL_PROVIDER_NOT_FOUND' } });
        expect(answer.body.message).toMatch(/^There is no (?:audience|contact) with this id/);
      }
    },
  );
});
