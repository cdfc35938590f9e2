import { beforeAll, describe, expect, inject, test } from 'vitest';
import { Browser, target } from '../../support/clients/browser.ts';
import { inParallel } from '../../support/clients/client.ts';
import {
  consent,
  editUser,
  type Landing,
  landingOf,
  newSocialProject,
  startUrl,
  storedUsers,
} from '../../support/clients/social.ts';
import type { TestProject } from '../../support/fixtures/project.ts';

const issuer = (): string => inject('stack').env.OPENID_ISSUER_URL ?? '';
const registration = () => ({
  enabled: true,
  issuer: issuer(),
  clientId: 'client',
  clientSecret: 'secret:with/ signs'.replace(' ', ''),
});
const grace = 'grace@example.com';

interface Answer {
  readonly data: { readonly socialProviders: Readonly<Record<string, unknown>> };
  readonly code?: string;
  readonly message: string;
}

const patch = (project: TestProject, socialProviders: unknown) =>
  project.developer.dashboard<Answer>('PATCH', `/api/projects/${project.id}`, { socialProviders });
const shown = async (project: TestProject) => {
  const { body } = await project.developer.dashboard<Answer>('GET', `/api/projects/${project.id}`);
  return Object.fromEntries(Object.entries(body.data.socialProviders).filter(([name]) => name.startsWith('oidc:')));
};

const signIn = async (
  project: TestProject,
  who: string,
  name = 'oidc:acme',
  change = (url: URL) => url,
): Promise<Landing> => {
  const browser = new Browser();
  const callback = await consent(browser, startUrl(project, name), who);
  return landingOf(target(await browser.open(change(callback).href)));
};

describe('socialProviders with oidc:<name>', () => {
  let project: TestProject;
  beforeAll(async () => {
    project = await newSocialProject();
  });

  test('200, without the secret; null removes it', async () => {
    expect(await patch(project, { 'oidc:acme': registration() })).toMatchObject({ status: 200 });
    const { clientSecret: _secret, ...rest } = registration();
    expect(await shown(project)).toEqual({ 'oidc:acme': { ...rest, hasClientSecret: true } });
    expect(await patch(project, { 'oidc:acme': null })).toMatchObject({ status: 200 });
    expect(await shown(project)).toEqual({});
  });

  test.each<[unknown, RegExp]>([
    [{ 'oidc:': {} }, /socialProviders\.oidc: is not a known field/],
    [{ 'oidc:Acme': {} }, /is not a known field/],
    [{ 'oidc:a.b': {} }, /is not a known field/],
    [{ [`oidc:${'a'.repeat(33)}`]: {} }, /is not a known field/],
    [{ 'oidc:a': { teamId: 'x' } }, /is not a known field/],
    [{ 'oidc:a': { enabled: true, clientId: 'x', clientSecret: 'y' } }, /issuer is required to enable/],
    [{ 'oidc:a': [] }, /must be an Object/],
    ...[
      'http://accounts.example.com',
      'https://accounts.example.com/?a=b',
      'https://accounts.example.com/#a',
      'https://user:secret@accounts.example.com',
      'https://127.0.0.1',
      'https://[::1]',
      'https://[::ffff:10.0.0.1]',
      'https://0x7f.1',
      'https://2130706433',
      'https://localhost',
      'https://169.254.169.254/latest',
      'https://metadata.google.internal',
      'ftp://accounts.example.com',
      'accounts.example.com',
      '',
    ].map((text): [unknown, RegExp] => [
      { 'oidc:a': { issuer: text } },
      /issuer must be an https URL of a public host/,
    ]),
  ])('400 VALIDATION_FAILED for %j', async (body, message) => {
    const answer = await patch(project, body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    expect(answer.body.message).toMatch(message);
  });

  test('400 for a URL without an issuer, and for one that names another issuer', async () => {
    const { origin } = new URL(issuer());
    for (const wrong of [`${origin}/nothing`, `${issuer()}/`, `${origin}/openid/issuer/x`]) {
      const answer = await patch(project, { 'oidc:a': { ...registration(), issuer: wrong } });
      expect(answer, wrong).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
      expect(answer.body.message).toContain('must be an OpenID Connect issuer');
    }
  });

  test('400 for another issuer without its own secret, because the stored one would be sent to it', async () => {
    const fresh = await newSocialProject();
    await patch(fresh, { 'oidc:acme': registration() });
    const other = issuer().replace('/openid/', '/gitlab/');
    const refused = await patch(fresh, { 'oidc:acme': { issuer: other } });
    expect(refused).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    expect(refused.body.message).toContain('clientSecret is required with another issuer');
    expect(await patch(fresh, { 'oidc:acme': { issuer: issuer() } })).toMatchObject({ status: 200 });
    expect(await patch(fresh, { 'oidc:acme': { issuer: other, clientSecret: 'x' } })).toMatchObject({ status: 200 });
  });

  test('403 LIMIT_REACHED for a sixth, with concurrent requests', async () => {
    const fresh = await newSocialProject();
    const answers = await inParallel(50, (n) => patch(fresh, { [`oidc:p${n}`]: { clientId: 'x' } }));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(Object.keys(await shown(fresh))).toHaveLength(5);
    expect(refused).toHaveLength(45);
    expect(new Set(refused.map(({ body }) => body.code))).toEqual(new Set(['LIMIT_REACHED']));
    const [first = ''] = Object.keys(await shown(fresh));
    expect(await patch(fresh, { [first]: { clientId: 'y' } })).toMatchObject({ status: 200 });
    expect(await patch(fresh, { [first]: null, 'oidc:another': { clientId: 'x' } })).toMatchObject({ status: 200 });
    expect(Object.keys(await shown(fresh))).toHaveLength(5);
  });
});

describe('a sign-in by discovery', () => {
  let project: TestProject;
  beforeAll(async () => {
    project = await newSocialProject();
    await patch(project, { 'oidc:acme': registration(), 'oidc:other': registration() });
  });

  test('creates an account that is found by issuer and subject when the provider is renamed', async () => {
    const first = await signIn(project, grace);
    expect(first).toMatchObject({ error: null, isNewUser: 'true' });
    expect(await signIn(project, grace)).toMatchObject({ isNewUser: 'false', userId: first.userId });
    expect(await signIn(project, grace, 'oidc:other')).toMatchObject({ isNewUser: 'false', userId: first.userId });
    expect(await storedUsers(project)).toMatchObject([
      {
        email: grace,
        emailVerified: true,
        identities: [{ provider: 'oidc:acme', id: '1002', key: `oidc:${issuer()}#1002` }],
      },
    ]);
  });

  test('sends PKCE and a nonce', async () => {
    const { searchParams } = target(await new Browser().open(startUrl(project, 'oidc:acme')));
    expect(Object.fromEntries(searchParams)).toMatchObject({
      scope: 'openid email profile',
      code_challenge_method: 'S256',
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      redirect_uri: expect.stringMatching(/\/api\/userAuth\/social\/oidc:acme\/callback$/),
    });
  });

  test('fails when the issuer has not verified the address', async () => {
    const landing = await signIn(project, 'unverified@example.com');
    expect(landing.error).toMatch(/^acme has not verified your email address/);
  });

  test.each([
    ['another issuer', 'https://evil.example'],
    ['none, though its issuer always says so', undefined],
  ])('fails with the response %s', async (_, said) => {
    const landing = await signIn(project, grace, 'oidc:acme', (url) => {
      if (said === undefined) url.searchParams.delete('iss');
      else url.searchParams.set('iss', said);
      return url;
    });
    expect(landing).toMatchObject({ error: expect.stringMatching(/did not send this response/), token: '' });
  });

  test('fails when it began with another provider of the same issuer', async () => {
    const landing = await signIn(project, grace, 'oidc:acme', (url) => {
      url.pathname = url.pathname.replace('oidc:acme', 'oidc:other');
      return url;
    });
    expect(landing).toMatchObject({ error: expect.stringMatching(/^This sign-in has expired/), token: '' });
  });

  test('fails for a disabled user', async () => {
    await editUser(project, { email: grace }, { $set: { isDisabled: true } });
    expect(await signIn(project, grace)).toMatchObject({ error: 'This account is disabled.' });
    await editUser(project, { email: grace }, { $unset: { isDisabled: true } });
  });

  test('404 UNKNOWN_PROVIDER for a name that the project does not have', async () => {
    const gone = await newSocialProject();
    await patch(gone, { 'oidc:acme': registration() });
    const callback = await consent(new Browser(), startUrl(gone, 'oidc:acme'), grace);
    await patch(gone, { 'oidc:acme': null });
    for (const url of [startUrl(gone, 'oidc:none'), startUrl(gone, 'oidc:acme'), callback.href]) {
      expect((await new Browser().open(url)).status).toBe(404);
    }
  });
});
