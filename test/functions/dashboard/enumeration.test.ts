import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { handler as requestReset } from '../../../functions/dashboard/auth/request-developer-reset.ts';
import { handler as resendVerification } from '../../../functions/dashboard/auth/resend-developer-verification.ts';
import { handler as resetPassword } from '../../../functions/dashboard/auth/reset-developer-password.ts';
import { handler as sendCode } from '../../../functions/dashboard/auth/send-developer-code.ts';
import { handler as logIn } from '../../../functions/dashboard/auth/sign-in-developer.ts';
import { handler as signInByCode } from '../../../functions/dashboard/auth/sign-in-developer-by-code.ts';
import { handler as verifyEmail } from '../../../functions/dashboard/auth/verify-developer-email.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newUnverified } from '../../support/fixtures/project.ts';

listenToCommands();

type Handler = Parameters<typeof invoke>[0];

/** Requests about an address; they must not reveal which developers exist. */
const questions: readonly [string, Handler, (email: string) => object][] = [
  ['login', logIn, (email) => ({ email, password: 'not the password' })],
  ['request-password-reset', requestReset, (email) => ({ email })],
  ['resend-verification', resendVerification, (email) => ({ email })],
  ['code', sendCode, (email) => ({ email })],
  ['code/verify', signInByCode, (email) => ({ email, code: 'AAAA-AAAA' })],
  ['verify-email', verifyEmail, (email) => ({ email, otp: 'AAAA-AAAA' })],
  ['reset-password', resetPassword, (email) => ({ email, otp: 'AAAA-AAAA', newPassword: 'a new password' })],
];

const nobody = (): string => `nobody-${randomBytes(8).toString('hex')}@example.com`;

describe.each(questions)('%s does not reveal which developers exist', (_path, handler, bodyFor) => {
  const ask = (email: string) => invoke(handler, { body: bodyFor(email) });
  const plain = async (email: string) => {
    const { status, headers, body } = await ask(email);
    return {
      status,
      body: { ...body, requestId: '' },
      headers: [...headers].filter(([name]) => name !== 'x-request-id'),
    };
  };

  test('by its response: status, headers and body are equal, the first time and again', async () => {
    const [known, unknown] = [(await newUnverified()).email, nobody()];
    for (let time = 0; time < 2; time++) expect(await plain(known)).toEqual(await plain(unknown));
  });

  test('by its work: it runs the same commands', async () => {
    const [known, unknown] = [(await newUnverified()).email, nobody()];
    await ask(nobody());
    const real = await commandsOf(() => ask(known));
    expect(real).toEqual(await commandsOf(() => ask(unknown)));
    expect(real.length).toBeGreaterThan(0);
  });
});
