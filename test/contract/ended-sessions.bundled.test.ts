import { beforeAll, describe, expect, inject, test } from 'vitest';
import { addressKeyOf, issueTokens } from '../../shared/accounts/email-tokens.ts';
import { verifyDashboardToken } from '../../shared/accounts/tokens.ts';
import { isRead } from '../../shared/http/route.ts';
import { developerScope } from '../../shared/persistence/item-keys.ts';
import { call, cookieOf } from '../support/clients/client.ts';
import { dashboardCases, type RouteCase, sampleBodies, sampleParameters } from '../support/data/route-cases.ts';
import { auth, linkDeveloper, logIn } from '../support/fixtures/developers.ts';
import { type Developer, newProject, newUnverified } from '../support/fixtures/project.ts';

const ofDevelopers = dashboardCases.filter(({ route }) => route.access === 'developer');
const writes = ofDevelopers.filter(({ route }) => !isRead(route));

/** Ways to end a session while its access token is still valid for minutes. */
const ways: Readonly<Record<string, (developer: Developer, cookie: string) => Promise<unknown>>> = {
  logout: async (_developer, cookie) => auth('POST', 'logout', { headers: { cookie } }),
  reset: async ({ email, token }) => {
    const { userId: developerId } = await verifyDashboardToken(token);
    const place = { scope: developerScope, kind: 'reset', addressKey: addressKeyOf(email) } as const;
    const mail = await issueTokens(place, email, developerId);
    return auth('POST', 'reset-password', { body: { token: mail.token, newPassword: 'a new password' } });
  },
  'takeover of an address that was never verified': async ({ email }) =>
    linkDeveloper({ id: email, name: undefined, username: undefined, addresses: [{ email, verified: true }] }),
  'deletion of the account': async ({ password, token }) => auth('DELETE', 'account', { token, body: { password } }),
};

const ended = new Map<string, string>();
let signedIn: Developer;
let projectId: string;

beforeAll(async () => {
  ({ developer: signedIn, id: projectId } = await newProject());
  for (const [way, end] of Object.entries(ways)) {
    const developer = await newUnverified();
    const answer = await logIn(developer.email, developer.password);
    const token = answer.body.data.accessToken;
    await end({ ...developer, token }, cookieOf(answer));
    ended.set(way, token);
  }
});

const ask = ({ id, method, pathWith }: RouteCase, token: string) => {
  const body = sampleBodies[id];
  return call(inject('stack').dashboardUrl, method, pathWith({ ...sampleParameters, projectId }), {
    token,
    ...(body === undefined ? {} : { body }),
  });
};

describe('an access token whose session has ended', () => {
  test.each(writes)('401 for every route that writes, however the session ended: $method $id', async (row) => {
    for (const [way, token] of ended) {
      const refused = { status: 401, body: { code: 'TOKEN_INVALID', message: expect.stringContaining('has ended') } };
      expect(await ask(row, token), way).toMatchObject(refused);
    }
  });

  test('200 for reads until it expires, if the account still exists', async () => {
    for (const way of ['logout', 'reset']) {
      const token = ended.get(way) ?? '';
      expect((await auth('GET', 'me', { token })).status, way).toBe(200);
    }
  });

  test('does not affect other sessions of the same developer', async () => {
    const second = await logIn(signedIn.email, signedIn.password);
    await auth('POST', 'logout', { headers: { cookie: cookieOf(second) } });
    expect((await signedIn.dashboard('PATCH', `/api/projects/${projectId}`, { name: 'renamed' })).status).toBe(200);
  });
});
