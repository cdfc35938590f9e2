import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { handler as requestEmailChange } from '../../../functions/user-auth/request-email-change.ts';
import { handler as requestPasswordReset } from '../../../functions/user-auth/request-password-reset.ts';
import { handler as resendVerification } from '../../../functions/user-auth/resend-verification-otp.ts';
import { handler as resetPassword } from '../../../functions/user-auth/reset-password.ts';
import { handler as sendCode } from '../../../functions/user-auth/send-code.ts';
import { handler as logIn } from '../../../functions/user-auth/sign-in.ts';
import { handler as signInByCode } from '../../../functions/user-auth/sign-in-by-code.ts';
import { handler as verifyEmail } from '../../../functions/user-auth/verify-email.ts';
import { clock } from '../../../shared/core/clock.ts';
import type { Answer } from '../../support/clients/client.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { changeStoredUsers } from '../../support/fixtures/stored-users.ts';
import { newCredentials, newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

listenToCommands();

const realNow = clock.now;
let project: UsersProject;
/** Most routes do not check whether the caller is signed in. */
let asker: Awaited<ReturnType<UsersProject['newUser']>>;

beforeAll(async () => {
  project = await newUsersProject({ settings: { signIn: { emailCode: true } } });
  asker = await project.newUser();
  await changeStoredUsers(project, { email: asker.email }, { emailVerified: true });
  // A stopped clock keeps caches valid between compared requests.
  const now = realNow();
  clock.now = () => now;
});
afterAll(() => {
  clock.now = realNow;
});

const plain = ({ status, headers, body }: Omit<Answer, 'cookies'>) => ({
  status,
  body: { ...body, requestId: '' },
  headers: [...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date'),
});

type Handler = Parameters<typeof invoke>[0];

/** Requests about an address; none may reveal whether it has an account. */
const questions: readonly [string, Handler, (email: string) => object][] = [
  ['login', logIn, (email) => ({ email, password: 'not the password' })],
  ['request-password-reset', requestPasswordReset, (email) => ({ email })],
  ['request-email-change', requestEmailChange, (email) => ({ email, password: asker.password })],
  ['resend-verification-otp', resendVerification, (email) => ({ email })],
  ['code', sendCode, (email) => ({ email })],
  ['code/verify', signInByCode, (email) => ({ email, code: 'AAAA-AAAA' })],
  ['verify-email', verifyEmail, (email) => ({ email, otp: 'AAAA-AAAA' })],
  ['reset-password', resetPassword, (email) => ({ email, otp: 'AAAA-AAAA', newPassword: 'a new password' })],
];

describe.each(questions)('%s does not reveal accounts', (path, handler, bodyFor) => {
  const ask = (email: string) =>
    invoke(handler, { key: project.publishableKey, token: asker.token, body: bodyFor(email) });

  test('by its response: status, headers and body, the first time and again', async () => {
    const [known, unknown] = [(await project.newUser()).email, newCredentials().email];
    for (let time = 0; time < 2; time++) {
      expect(plain(await ask(known))).toEqual(plain(await ask(unknown)));
      const options = (email: string) => ({ token: asker.token, body: bodyFor(email) });
      const [real, none] = [
        await project.auth('POST', path, options(known)),
        await project.auth('POST', path, options(unknown)),
      ];
      expect({ status: real.status, body: { ...real.body, requestId: '' } }).toEqual({
        status: none.status,
        body: { ...none.body, requestId: '' },
      });
    }
  });

  test('by its work: the same commands in the same number', async () => {
    const [known, unknown] = [(await project.newUser()).email, newCredentials().email];
    await ask(newCredentials().email);
    const real = await commandsOf(() => ask(known));
    expect(real).toEqual(await commandsOf(() => ask(unknown)));
    expect(real.length).toBeGreaterThan(0);
  });
});

/** Probability that a time of one sample exceeds one of the other (Mann and Whitney). 0.5 means no difference. */
const chanceAbove = (a: readonly number[], b: readonly number[]): number => {
  const above = a.flatMap((x) => b.map((y): number => (x > y ? 1 : x === y ? 0.5 : 0)));
  return above.reduce((sum, one) => sum + one, 0) / above.length;
};

describe('timing does not reveal accounts either', () => {
  test.each(questions)('%s', async (_path, handler, bodyFor) => {
    const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
    const measure = async (kind: keyof typeof times, email: string): Promise<void> => {
      const start = performance.now();
      await invoke(handler, { key: project.publishableKey, token: asker.token, body: bodyFor(email) });
      times[kind].push(performance.now() - start);
    };
    const rounds = 40;
    const emails: string[] = [];
    for (let round = 0; round < rounds; round++) emails.push((await project.newUser()).email);
    await measure('known', newCredentials().email);
    times.known = [];
    for (const [round, email] of emails.entries()) {
      const turns = [() => measure('known', email), () => measure('unknown', newCredentials().email)];
      for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn();
    }
    const chance = chanceAbove(times.known, times.unknown);
    expect(chance).toBeGreaterThan(0.2);
    expect(chance).toBeLessThan(0.8);
  });
});
