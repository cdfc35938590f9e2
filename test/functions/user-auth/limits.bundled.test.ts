import { beforeAll, describe, expect, test } from 'vitest';
import { handler as getMe } from '../../../functions/user-auth/get-me.ts';
import { handler as requestPasswordReset } from '../../../functions/user-auth/request-password-reset.ts';
import { userAuthRoutes } from '../../../functions/user-auth/routes.ts';
import { handler as logIn } from '../../../functions/user-auth/sign-in.ts';
import { handler as verifyEmail } from '../../../functions/user-auth/verify-email.ts';
import { clock } from '../../../shared/core/clock.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { type InvokeOptions, invoke } from '../../support/clients/invoke.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

process.env.RATE_LIMIT = '100';
process.env.AUTH_RATE_LIMIT = '60';
process.env.CREDENTIAL_RATE_LIMIT = '20';

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject();
  const frozen = Date.now();
  // Windows are aligned to the clock: none may end during a test.
  clock.now = () => frozen;
});

let host = 0;
/** An address without earlier requests. */
const newAddress = (): string => `2001:db8:${process.pid % 65_536 || 1}:${(++host).toString(16)}::1`;

const ask = (handler: Parameters<typeof invoke>[0], options: InvokeOptions) =>
  invoke(handler, { key: project.publishableKey, ...options });

const limited = { status: 429, body: { code: 'RATE_LIMITED' } };

describe('the credential window', () => {
  test('is shared by exactly the routes that accept credentials or codes or send email', () => {
    const narrow = Object.values(userAuthRoutes).flatMap((row) => ('credential' in row ? row.id : []));
    expect(narrow.sort()).toEqual([
      'change-email',
      'confirm-totp',
      'create-recovery-codes',
      'delete-passkey',
      'link-provider',
      'register-passkey',
      'remove-totp',
      'request-email-change',
      'request-password-reset',
      'resend-verification-otp',
      'reset-password',
      'send-code',
      'sign-in',
      'sign-in-by-code',
      'sign-in-with-factor',
      'sign-in-with-passkey',
      'sign-up',
      'sign-up-anonymously',
      'start-registration',
      'start-totp',
      'upgrade-anonymous',
      'verify-email',
    ]);
  });

  test('429 from the 21st request of one address on any of the routes, before the key is checked', async () => {
    const sourceIp = newAddress();
    const acts = [
      () => ask(logIn, { sourceIp, body: { email: 'nobody@example.com' } }),
      () => ask(verifyEmail, { sourceIp, body: { token: 'x' } }),
      () => ask(requestPasswordReset, { sourceIp, body: {} }),
    ];
    const answers = await inParallel(50, (n) => acts[n % 3]?.() ?? Promise.reject(new Error('none')));
    expect(tally(answers)).toEqual({ 400: 20, 429: 30 });
    const over = await ask(logIn, { sourceIp, key: 'garbage', body: {} });
    expect(over).toMatchObject(limited);
    expect(over.headers.get('ratelimit-limit')).toBe('20');
    expect(over.headers.get('ratelimit-remaining')).toBe('0');
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(over.headers.get('retry-after')).toBe(over.headers.get('ratelimit-reset'));
    expect(await ask(logIn, { sourceIp: newAddress(), body: {} })).toMatchObject({ status: 400 });
    expect(await ask(getMe, { sourceIp })).toMatchObject({ status: 401 });
  });
});

describe('the window of user accounts', () => {
  test('429 from the 61st request of one address on', async () => {
    const sourceIp = newAddress();
    const answers = await inParallel(70, () => ask(getMe, { sourceIp }));
    expect(tally(answers)).toEqual({ 401: 60, 429: 10 });
    expect((await ask(getMe, { sourceIp })).headers.get('ratelimit-limit')).toBe('60');
  });

  test('401 and the header shows the window with the fewest requests left', async () => {
    const sourceIp = newAddress();
    const first = await ask(getMe, { sourceIp });
    expect(first.headers.get('ratelimit-limit')).toBe('60');
    expect(first.headers.get('ratelimit-remaining')).toBe('59');
    const credential = await ask(logIn, { sourceIp, body: {} });
    expect(credential.headers.get('ratelimit-limit')).toBe('20');
    expect(credential.headers.get('ratelimit-remaining')).toBe('19');
  });
});
