import { randomBytes } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { countAccountMail } from '../../../shared/accounts/account-mail.ts';
import { withProof } from '../../../shared/accounts/email-proofs.ts';
import { addressKeyOf, issueTokens } from '../../../shared/accounts/email-tokens.ts';
import {
  consumeState,
  exchangeCode,
  issueExchangeCode,
  startState,
} from '../../../shared/accounts/social/start-sign-in.ts';
import { clock } from '../../../shared/core/clock.ts';
import { countInvitation } from '../../../shared/members/invitations.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { plans } from '../../../shared/projects/plans.ts';
import { inParallel } from '../../support/clients/client.ts';
import { holdFirstAttempts, loseFirstAnswers } from '../../support/faults/lost-answers.ts';
import { setAccountMails } from '../../support/fixtures/account-mails.ts';
import { newOwnerKey } from '../../support/fixtures/owner.ts';

let scope: ReturnType<typeof projectScope>;

beforeAll(() => {
  scope = projectScope(new ObjectId().toHexString());
});

afterEach(() => {
  vi.restoreAllMocks();
});

const random = (): string => randomBytes(16).toString('hex');

const issue = async (kind: 'verify' | 'reset' = 'reset') => {
  const email = `${random()}@example.com`;
  const place = { scope, kind, addressKey: addressKeyOf(email) };
  return { email, ...(await issueTokens(place, email, new ObjectId().toHexString())) };
};
type Proof = Parameters<typeof withProof>[2];
const use = (proof: Proof, act = async () => true) => withProof(scope, 'reset', proof, { ip: '192.0.2.7' }, act);
const used = { code: 'INVALID_EMAIL_TOKEN' };

describe('a lost response of the table, which the client repeats, costs the caller nothing', () => {
  test('200 for an exchange code, and 400 the second time', async () => {
    const code = await issueExchangeCode(scope, { accessToken: 'access', refreshToken: 'refresh' });
    loseFirstAnswers();
    expect(await exchangeCode(scope, code, 'access')).toBe('refresh');
    await expect(exchangeCode(scope, code, 'access')).rejects.toMatchObject({ code: 'INVALID_EXCHANGE_CODE' });
  });

  test('302 for a state, and an error the second time', async () => {
    const state = await startState(scope, 'github', 'verifier');
    loseFirstAnswers();
    expect(await consumeState(scope, state, 'github', 'verifier')).toBeDefined();
    expect(await consumeState(scope, state, 'github', 'verifier')).toBeUndefined();
  });

  test('200 for link and code of an email, and 400 the second time', async () => {
    const [first, second] = [await issue(), await issue()];
    loseFirstAnswers();
    const proofs: Proof[] = [{ token: first.token }, { email: second.email, otp: second.code }];
    for (const proof of proofs) {
      await use(proof);
      await expect(use(proof)).rejects.toMatchObject(used);
    }
  });

  test('200 for a requested email, whose link and code are valid', async () => {
    loseFirstAnswers();
    const { isGood, token } = await issue();
    expect(isGood).toBe(true);
    await use({ token });
  });

  test('200 for the code of an email at the fifth attempt', async () => {
    const { email, code } = await issue();
    for (let wrong = 0; wrong < 4; wrong++) {
      await expect(use({ email, otp: 'AAAA-AAAA' })).rejects.toMatchObject(used);
    }
    loseFirstAnswers();
    await use({ email, otp: code });
  });

  test('201 for the last invitation of a day', async () => {
    const developer = `${random()}@example.com`;
    for (let sent = 0; sent < 99; sent++) await countInvitation(developer, `${random()}@example.com`);
    loseFirstAnswers();
    await countInvitation(developer, `${random()}@example.com`);
    await expect(countInvitation(developer, `${random()}@example.com`)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });

  test('200 for the last account email of a day', async () => {
    const project = { id: new ObjectId().toHexString(), plan: 'free' as const, ownerKey: newOwnerKey() };
    await setAccountMails(project, plans.free.accountMailsPerDay - 1);
    loseFirstAnswers();
    expect(await countAccountMail(project, { toNobody: false })).toBe(true);
    expect(await countAccountMail(project, { toNobody: false })).toBe(false);
  });
});

describe('a used secret stays used when the first attempt of its write arrives later', () => {
  test('error for a state', async () => {
    const arrive = holdFirstAttempts();
    const state = await startState(scope, 'github', 'verifier');
    vi.restoreAllMocks();
    expect(await consumeState(scope, state, 'github', 'verifier')).toBeDefined();
    await arrive();
    expect(await consumeState(scope, state, 'github', 'verifier')).toBeUndefined();
  });

  test('400 for the link of an email', async () => {
    const arrive = holdFirstAttempts();
    const { token } = await issue();
    vi.restoreAllMocks();
    await use({ token });
    await arrive();
    await expect(use({ token })).rejects.toMatchObject(used);
  });
});

test('429 for all except 10 of 50 concurrent invitations of a developer who has sent 90 that day', async () => {
  const developer = `${random()}@example.com`;
  const invite = () => countInvitation(developer, `${random()}@example.com`);
  for (let sent = 0; sent < 90; sent += 30) await inParallel(30, invite);
  const outcomes = await Promise.allSettled(Array.from({ length: 50 }, invite));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
});

describe('a link or code whose action failed', () => {
  const fails = () => Promise.reject(new Error('MongoDB is down'));

  test('503, and valid again for one of 50 concurrent requests', async () => {
    for (const { token, email, code } of [await issue(), await issue()]) {
      await expect(use({ token }, fails)).rejects.toThrow('MongoDB is down');
      await expect(use({ email, otp: code }, fails)).rejects.toThrow('MongoDB is down');
      let done = 0;
      const act = async () => ++done > 0;
      const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => use({ token }, act)));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(done).toBe(1);
    }
  });

  test('400 for all others while one of 50 uses it', async () => {
    const { token } = await issue();
    let atOnce = 0;
    let most = 0;
    const act = async (): Promise<boolean> => {
      most = Math.max(most, ++atOnce);
      await new Promise(setImmediate);
      atOnce--;
      return fails();
    };
    await Promise.allSettled(Array.from({ length: 50 }, () => use({ token }, act)));
    expect(most).toBe(1);
    await use({ token });
  });

  test('400, and stays used when the account is deleted', async () => {
    const { token } = await issue();
    await expect(use({ token }, async () => false)).rejects.toMatchObject(used);
    await expect(use({ token })).rejects.toMatchObject(used);
  });

  test('400 for an older link after a newer email, although its action fails late', async () => {
    const { token, email } = await issue();
    const failsAfterAnotherMail = async (): Promise<boolean> => {
      const moment = Date.now() + 61_000;
      const ahead = vi.spyOn(clock, 'now').mockReturnValue(moment);
      await issueTokens({ scope, kind: 'reset', addressKey: addressKeyOf(email) }, email, new ObjectId().toHexString());
      ahead.mockRestore();
      return fails();
    };
    await expect(use({ token }, failsAfterAnotherMail)).rejects.toThrow('MongoDB is down');
    await expect(use({ token })).rejects.toMatchObject(used);
  });
});
