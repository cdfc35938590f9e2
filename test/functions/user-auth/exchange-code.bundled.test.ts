import { randomBytes } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { exchangeCode, issueExchangeCode } from '../../../shared/accounts/social/start-sign-in.ts';
import { clock } from '../../../shared/core/clock.ts';
import { onTable } from '../../../shared/persistence/dynamo.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { exchange, type Landing, newSocialProject, refresh, signInWith, site } from '../../support/clients/social.ts';
import { laterRefusalOf } from '../../support/data/refusal.ts';
import type { TestProject } from '../../support/fixtures/project.ts';

const invalid = {
  status: 400,
  body: {
    success: false,
    code: 'INVALID_EXCHANGE_CODE',
    message: 'Invalid or expired refresh token exchange code',
  },
};

let project: TestProject;
let other: TestProject;
beforeAll(async () => {
  project = await newSocialProject({ settings: { allowedDomains: [site] } });
  other = await newSocialProject();
});

const headers = { origin: site };
const signIn = (): Promise<Landing> => signInWith(project, 'github', 'octocat');

describe('POST /api/userAuth/social/exchange', () => {
  test('200 once with a valid refresh token, then 400', async () => {
    const { token, rtCode } = await signIn();
    const answer = await exchange(project, { token, rtCode }, headers);
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
    expect(Object.keys(answer.body.data ?? {})).toEqual(['refreshToken']);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await exchange(project, { token, rtCode }, headers)).toMatchObject(invalid);
    expect((await refresh(project, answer.body.data?.refreshToken ?? '', headers)).status).toBe(200);
  });

  test('200 for one of 50 concurrent requests', async () => {
    const { token, rtCode } = await signIn();
    const answers = await inParallel(50, () => exchange(project, { token, rtCode }, headers));
    expect(tally(answers)).toEqual({ 200: 1, 400: 49 });
  });

  test('400 with the access token of another sign-in; the code stays valid', async () => {
    const [mine, theirs] = [await signIn(), await signIn()];
    expect(await exchange(project, { token: theirs.token, rtCode: mine.rtCode }, headers)).toMatchObject(invalid);
    expect(await exchange(project, { token: mine.token, rtCode: theirs.rtCode }, headers)).toMatchObject(invalid);
    expect((await exchange(project, { token: mine.token, rtCode: mine.rtCode }, headers)).status).toBe(200);
  });

  test('400 with the key of another project; the code stays valid', async () => {
    const { token, rtCode } = await signIn();
    expect(await exchange(other, { token, rtCode })).toMatchObject(invalid);
    expect((await exchange(project, { token, rtCode }, headers)).status).toBe(200);
  });

  test('400 with any other code or token', async () => {
    const { token, rtCode } = await signIn();
    const codes = ['', 'x', rtCode.slice(1), `${rtCode}A`, randomBytes(32).toString('base64url'), 'é'.repeat(43), '#'];
    for (const code of codes) expect(await exchange(project, { token, rtCode: code }, headers)).toMatchObject(invalid);
    for (const sent of ['', 'x', token.slice(0, -1), `${token} `, 'a'.repeat(100_000)]) {
      expect(await exchange(project, { token: sent, rtCode }, headers)).toMatchObject(invalid);
    }
    expect((await exchange(project, { token, rtCode }, headers)).status).toBe(200);
  });

  test.each<[string, unknown]>([
    ['VALIDATION_FAILED', {}],
    ['VALIDATION_FAILED', { token: 'x' }],
    ['VALIDATION_FAILED', { token: { $ne: null }, rtCode: { $ne: null } }],
    ['VALIDATION_FAILED', { token: ['x'], rtCode: ['x'] }],
    ['VALIDATION_FAILED', { token: 1, rtCode: true }],
    ['VALIDATION_FAILED', { token: null, rtCode: null }],
    ['INVALID_BODY', []],
    ['INVALID_BODY', '"x"'],
    ['INVALID_JSON', '{'],
  ])('400 %s for the body %j', async (code, body) => {
    expect(await exchange(project, body, headers)).toMatchObject({ status: 400, body: { success: false, code } });
  });

  test('403 from an origin that is not allowed', async () => {
    const { token, rtCode } = await signIn();
    for (const foreign of [{}, { origin: 'https://evil.example' }]) {
      expect(await exchange(project, { token, rtCode }, foreign)).toMatchObject({
        status: 403,
        body: { code: 'ORIGIN_NOT_ALLOWED' },
      });
    }
  });
});

describe('an exchange code', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test.each([
    [59, true],
    [60, false],
    [61, false],
  ])('after %i s is valid: %s', async (seconds, good) => {
    const now = Math.ceil(clock.now() / 1000) * 1000;
    vi.spyOn(clock, 'now').mockReturnValue(now);
    const code = await issueExchangeCode(projectScope(project.id), {
      accessToken: 'a',
      refreshToken: 'the refresh token',
    });
    vi.spyOn(clock, 'now').mockReturnValue(now + seconds * 1000);
    const redeemed = exchangeCode(projectScope(project.id), code, 'a');
    if (good) expect(await redeemed).toBe('the refresh token');
    else expect(await laterRefusalOf(redeemed)).toMatchObject({ code: 'INVALID_EXCHANGE_CODE' });
  });

  test('is not stored in clear, nor are its tokens', async () => {
    const tokens = { accessToken: 'access-token-in-clear', refreshToken: 'refresh-token-in-clear' };
    const code = await issueExchangeCode(projectScope(project.id), tokens);
    const { Items = [] } = await onTable((client, TableName) =>
      client.send('Query', {
        TableName,
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :kind)',
        ExpressionAttributeValues: { ':pk': { S: `p#${project.id}` }, ':kind': { S: 'rtcode#' } },
      }),
    );
    const stored = JSON.stringify(Items);
    expect(Items.length).toBeGreaterThan(0);
    for (const secret of [code, ...Object.values(tokens)]) expect(stored).not.toContain(secret);
  });
});
