import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { profileOf, requireProvider } from '../../../../shared/accounts/social/providers.ts';
import { idTokenProfile } from '../../../../shared/projects/social/openid-providers.ts';
import type { SocialProviderName } from '../../../../shared/projects/social/providers.ts';

const github = requireProvider('github');
const google = requireProvider('google');

const user = { id: 583231, login: 'octocat', name: 'Octo Cat', email: null, plan: { name: 'pro' } };
const email = (address: string, rest: object = {}) => ({ email: address, primary: false, verified: true, ...rest });
const emails = [email('second@example.com'), email('Main@Example.com', { primary: true, visibility: 'public' })];

describe('a profile of GitHub', () => {
  test('has the id as text, and the primary address first, in lower case', () => {
    expect(profileOf(github, { user, emails })).toEqual({
      id: '583231',
      name: 'Octo Cat',
      username: 'octocat',
      addresses: [
        { email: 'main@example.com', verified: true },
        { email: 'second@example.com', verified: true },
      ],
    });
  });

  test('separates verified addresses', () => {
    const mixed = [email('a@example.com', { verified: false, primary: true }), email('b@example.com')];
    expect(profileOf(github, { user, emails: mixed }).addresses).toEqual([
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
  ])('omits an address that is %s', (text) => {
    const [, address = ''] = text.split('|');
    expect(profileOf(github, { user, emails: [email(address)] }).addresses).toEqual([]);
  });

  test('has at most ten addresses', () => {
    const many = Array.from({ length: 1000 }, (_, index) => email(`a${index}@example.com`));
    expect(profileOf(github, { user, emails: many }).addresses).toHaveLength(10);
  });

  test.each([null, undefined, 7, {}, '', '   ', 'a\nb', 'x'.repeat(101), '\ud800'])(
    'has no name when it is %j',
    (name) => {
      expect(profileOf(github, { user: { ...user, name }, emails }).name).toBeUndefined();
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
  ])('is rejected when the response is %s', (_, answer) => {
    expect(v.safeParse(github.profile, answer).success).toBe(false);
  });
});

describe('a profile of Google', () => {
  const known = { sub: '10769150350006150715113082367', email: 'Ada@Example.com', email_verified: true, name: 'Ada' };

  test('has the subject as id and no user name', () => {
    expect(profileOf(google, { user: known })).toEqual({
      id: known.sub,
      name: 'Ada',
      username: undefined,
      addresses: [{ email: 'ada@example.com', verified: true }],
    });
  });

  test('says when the address is not verified', () => {
    const { addresses } = profileOf(google, { user: { ...known, email_verified: false } });
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
  ])('is rejected with %s', (_, change) => {
    expect(v.safeParse(google.profile, { user: { ...known, ...change } }).success).toBe(false);
  });
});

const team = 'https://slack.com/team_id';
const ada = { sub: '1001', email: 'Ada@Example.com', name: 'Ada' };
const told = (email: string | undefined, verified = true) => (email ? [{ email, verified }] : []);

describe('a profile of another provider', () => {
  test.each<[SocialProviderName, object, string, ReturnType<typeof told>]>([
    ['microsoft', { user: ada }, '1001', told('ada@example.com', false)],
    ['microsoft', { user: { ...ada, email_verified: true } }, '1001', told('ada@example.com')],
    ['gitlab', { user: { ...ada, email_verified: true } }, '1001', told('ada@example.com')],
    ['gitlab', { user: ada }, '1001', told('ada@example.com', false)],
    ['linkedin', { user: { ...ada, email_verified: true } }, '1001', told('ada@example.com')],
    ['linkedin', { user: { ...ada, email_verified: 'true' } }, '1001', told('ada@example.com', false)],
    ['linkedin', { user: { sub: '1001' } }, '1001', []],
    ['twitch', { user: { ...ada, email_verified: true } }, '1001', told('ada@example.com')],
    ['slack', { user: { ...ada, email_verified: true, [team]: 'T1' } }, 'T1.1001', told('ada@example.com')],
    [
      'discord',
      { user: { id: '80351110224678912', email: ada.email, verified: true } },
      '80351110224678912',
      told('ada@example.com'),
    ],
    [
      'discord',
      { user: { id: '80351110224678912', email: ada.email } },
      '80351110224678912',
      told('ada@example.com', false),
    ],
    ['discord', { user: { id: '80351110224678912', email: null, verified: true } }, '80351110224678912', []],
    ['facebook', { user: { id: '10', name: 'Ada', email: ada.email } }, '10', []],
    ['spotify', { user: { id: 'ada', email: ada.email } }, 'ada', []],
    ['apple', { claims: { ...ada, email_verified: 'true' } }, '1001', told('ada@example.com')],
    ['apple', { claims: { ...ada, email_verified: 'false' } }, '1001', told('ada@example.com', false)],
    ['apple', { claims: { ...ada, email_verified: true } }, '1001', told('ada@example.com')],
    ['apple', { claims: ada }, '1001', told('ada@example.com', false)],
  ])('of %s with the response %j has the id %s and these addresses', (name, answers, id, addresses) => {
    expect(profileOf(requireProvider(name), answers)).toMatchObject({ id, addresses });
  });

  test.each<[SocialProviderName, object]>([
    ['microsoft', { user: { email: 'ada@example.com' } }],
    ['gitlab', { user: { ...ada, sub: 1001 } }],
    ['linkedin', { user: { ...ada, sub: '' } }],
    ['twitch', { user: { ...ada, sub: { $ne: null } } }],
    ['slack', { user: ada }],
    ['slack', { user: { ok: false, error: 'invalid_auth' } }],
    ['discord', { user: { id: 'ada' } }],
    ['facebook', { user: { id: 10 } }],
    ['spotify', { user: { id: '' } }],
    ['apple', { user: ada }],
    ['apple', { claims: undefined, form: '{}' }],
  ])('of %s is rejected with the responses %j', (name, answers) => {
    expect(v.safeParse(requireProvider(name).profile, answers).success).toBe(false);
  });

  const form = (firstName: unknown, lastName?: unknown) => JSON.stringify({ name: { firstName, lastName } });

  test.each<[string, string | undefined, string | undefined]>([
    ['both names', form('Ada', 'Lovelace'), 'Ada Lovelace'],
    ['one of them', form('Ada'), 'Ada'],
    ['nothing, as after the first time', undefined, undefined],
    ['no JSON', '{', undefined],
    ['another shape', '[]', undefined],
    ['objects in the place of names', form({ $ne: null }), undefined],
    ['a line break', form('Ada\nBcc: eve@example.com'), undefined],
    ['an address, which does not count', JSON.stringify({ email: 'victim@example.com' }), undefined],
  ])('of Apple when the browser sends %s', (_, brought, name) => {
    const profile = profileOf(requireProvider('apple'), { claims: { sub: '1001' }, form: brought });
    expect(profile).toEqual({ id: '1001', name, username: undefined, addresses: [] });
  });
});

describe('a profile by discovery', () => {
  const claims = { sub: '1001' };
  const user = { ...ada, email_verified: true };

  test('has the address of either response if both are of one subject', () => {
    expect(v.parse(idTokenProfile, { claims, user })).toMatchObject({
      addresses: [{ email: ada.email, verified: true }],
    });
    expect(v.parse(idTokenProfile, { claims: user })).toMatchObject({
      addresses: [{ email: ada.email, verified: true }],
    });
    expect(v.parse(idTokenProfile, { claims: { ...user, email_verified: 'true' } })).toMatchObject({
      addresses: [{ email: ada.email, verified: false }],
    });
  });

  test('has the address that either response verifies, and names of both', () => {
    const unsure = { ...claims, email: ada.email, email_verified: 'true', nickname: 'ada' };
    const signed = { ...user, name: undefined };
    const addresses = [{ email: ada.email, verified: true }];
    const told = { name: 'Ada', username: 'ada', addresses };
    expect(v.parse(idTokenProfile, { claims: signed, user: { ...unsure, name: 'Ada' } })).toMatchObject(told);
    expect(v.parse(idTokenProfile, { claims: { ...unsure, name: 'Ada' }, user: signed })).toMatchObject(told);
    expect(v.parse(idTokenProfile, { claims: unsure, user: unsure })).toMatchObject({
      addresses: [{ email: ada.email, verified: false }],
    });
  });

  test('is rejected when the second response is about another subject', () => {
    expect(v.safeParse(idTokenProfile, { claims, user: { ...user, sub: '1002' } }).success).toBe(false);
  });
});
