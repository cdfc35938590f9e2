import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { requireProvider } from '../../../../shared/accounts/social/providers.ts';

const { profile: githubProfile } = requireProvider('github');
const { profile: googleProfile } = requireProvider('google');

const user = { id: 583231, login: 'octocat', name: 'Octo Cat', email: null, plan: { name: 'pro' } };
const email = (address: string, rest: object = {}) => ({ email: address, primary: false, verified: true, ...rest });
const emails = [email('second@example.com'), email('Main@Example.com', { primary: true, visibility: 'public' })];

describe('a profile of GitHub', () => {
  test('has the id as text, and the main address first, in lower case', () => {
    expect(v.parse(githubProfile, { user, emails })).toEqual({
      id: '583231',
      name: 'Octo Cat',
      username: 'octocat',
      addresses: [
        { email: 'main@example.com', verified: true },
        { email: 'second@example.com', verified: true },
      ],
    });
  });

  test('keeps apart which addresses are verified', () => {
    const mixed = [email('a@example.com', { verified: false, primary: true }), email('b@example.com')];
    expect(v.parse(githubProfile, { user, emails: mixed }).addresses).toEqual([
      { email: 'a@example.com', verified: false },
      { email: 'b@example.com', verified: true },
    ]);
  });

  test.each([
    'a stand-in|1+octocat@users.noreply.github.com',
    'no address|octocat',
    'a line break|a@example.com\r\nBcc: b@example.com',
    'a NUL|a@example.com\0',
    'a lone surrogate|\ud800@example.com',
    `too long|${'a'.repeat(250)}@example.com`,
  ])('leaves out an address that is %s', (text) => {
    const [, address = ''] = text.split('|');
    expect(v.parse(githubProfile, { user, emails: [email(address)] }).addresses).toEqual([]);
  });

  test('looks at ten addresses at most', () => {
    const many = Array.from({ length: 1000 }, (_, index) => email(`a${index}@example.com`));
    expect(v.parse(githubProfile, { user, emails: many }).addresses).toHaveLength(10);
  });

  test.each([null, undefined, 7, {}, '', '   ', 'a\nb', 'x'.repeat(101), '\ud800'])(
    'has no name where it is %j',
    (name) => {
      expect(v.parse(githubProfile, { user: { ...user, name }, emails }).name).toBeUndefined();
    },
  );

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['an array', []],
    ['no user', { emails }],
    ['no addresses', { user }],
    ['an id of text', { user: { ...user, id: '583231' }, emails }],
    ['an id that is an operator', { user: { ...user, id: { $ne: null } }, emails }],
    ['an id beyond 2^53', { user: { ...user, id: 2 ** 53 }, emails }],
    ['no id', { user: { login: 'octocat' }, emails }],
    ['id 0', { user: { ...user, id: 0 }, emails }],
    ['an error for addresses', { user, emails: { message: 'Not Found' } }],
    ['an address that is an object', { user, emails: [email({} as string)] }],
    ['verified as text', { user, emails: [email('a@example.com', { verified: 'true' })] }],
    ['verified left out', { user, emails: [{ email: 'a@example.com', primary: true }] }],
  ])('is refused where the answer is %s', (_, answer) => {
    expect(v.safeParse(githubProfile, answer).success).toBe(false);
  });
});

describe('a profile of Google', () => {
  const known = { sub: '10769150350006150715113082367', email: 'Ada@Example.com', email_verified: true, name: 'Ada' };

  test('has the subject as id, and no user name', () => {
    expect(v.parse(googleProfile, { user: known })).toEqual({
      id: known.sub,
      name: 'Ada',
      username: undefined,
      addresses: [{ email: 'ada@example.com', verified: true }],
    });
  });

  test('says when the address is not verified', () => {
    const { addresses } = v.parse(googleProfile, { user: { ...known, email_verified: false } });
    expect(addresses).toEqual([{ email: 'ada@example.com', verified: false }]);
  });

  test.each<[string, object]>([
    ['no subject', { sub: undefined }],
    ['an empty subject', { sub: '' }],
    ['a subject that is a number', { sub: 5 }],
    ['a subject with a space', { sub: 'a b' }],
    ['a subject of 256 characters', { sub: 'a'.repeat(256) }],
    ['no address', { email: undefined }],
    ['verified as text', { email_verified: 'true' }],
    ['verified left out', { email_verified: undefined }],
  ])('is refused with %s', (_, change) => {
    expect(v.safeParse(googleProfile, { user: { ...known, ...change } }).success).toBe(false);
  });
});
