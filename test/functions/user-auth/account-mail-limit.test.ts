import { ObjectId } from 'mongodb';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { countAccountMail } from '../../../shared/accounts/account-mail.ts';
import { requestEmailToken } from '../../../shared/accounts/email-proofs.ts';
import { userAccounts } from '../../../shared/accounts/users/users.ts';
import { clock } from '../../../shared/core/clock.ts';
import { mailLogs } from '../../../shared/mail/log.ts';
import { plans } from '../../../shared/projects/plans.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { mailsTo, mailTo } from '../../support/clients/inbox.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { setAccountMails } from '../../support/fixtures/account-mails.ts';
import { newProviderKey } from '../../support/fixtures/mail-project.ts';
import { newOwnerKey } from '../../support/fixtures/owner.ts';
import { newDeveloper } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';
import { newCredentials, newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

listenToCommands();

afterEach(() => {
  vi.restoreAllMocks();
});

const limit = plans.free.accountMailsPerDay;

/** A project that may send `left` more emails today. */
const projectWith = async (left: number, settings = {}): Promise<{ api: UsersProject; domain: Project }> => {
  const api = await newUsersProject({ owner: await newDeveloper('free'), settings });
  const domain = await domainProject(api);
  await setAccountMails(domain, limit - left);
  return { api, domain };
};

const rowsOf = ({ id }: Project, status: object) => mailLogs.countDocuments({ projectId: new ObjectId(id), ...status });
const overLimit = { status: 'failed', reason: /as many emails of user accounts today/ };

describe('the daily account emails of a project with the shared key', () => {
  test('201 for all of 50 concurrent sign-ups; the remaining emails are sent, and the log has the others', async () => {
    const { api, domain } = await projectWith(10);
    const answers = await inParallel(50, () => api.signUp(newCredentials()));
    expect(tally(answers)).toEqual({ 201: 50 });
    expect(await rowsOf(domain, overLimit)).toBe(40);
    expect(await rowsOf(domain, { status: { $ne: 'failed' } })).toBe(10);
  });

  test('200 for known and unknown addresses at the limit, with the same work and no email', async () => {
    const { api, domain } = await projectWith(1);
    const { email } = await api.newUser();
    await mailTo(email);
    const ask = (address: string) => commandsOf(() => requestEmailToken(userAccounts(domain), 'reset', address));
    expect(await ask(email)).toEqual(await ask(newCredentials().email));
    const [known, unknown] = await Promise.all(
      [email, newCredentials().email].map((address) =>
        api.auth('POST', 'resend-verification-otp', { body: { email: address } }),
      ),
    );
    expect([known?.status, known?.body]).toEqual([unknown?.status, unknown?.body]);
    expect(await rowsOf(domain, overLimit)).toBeGreaterThanOrEqual(1);
    expect(await mailsTo(email)).toHaveLength(1);
  });

  test('200: unknown addresses and repeats within the minute count nothing', async () => {
    const { api, domain } = await projectWith(2);
    const { email } = await api.newUser();
    await mailTo(email);
    await inParallel(50, () => requestEmailToken(userAccounts(domain), 'reset', newCredentials().email));
    await inParallel(50, () => requestEmailToken(userAccounts(domain), 'verify', email));
    await requestEmailToken(userAccounts(domain), 'reset', email);
    expect((await mailTo(email, 2)).subject).toMatch(/password/i);
  });

  test('200 and sent again on the next day (UTC)', async () => {
    const { api, domain } = await projectWith(0);
    const { email } = await api.newUser();
    const tomorrow = clock.now() + 24 * 3600_000;
    vi.spyOn(clock, 'now').mockReturnValue(tomorrow);
    await requestEmailToken(userAccounts(domain), 'verify', email);
    expect(await mailTo(email)).toBeDefined();
  });

  test('200 and sent without limit with the project’s own key', async () => {
    const { api } = await projectWith(0, { providerApiKey: newProviderKey() });
    expect(await mailTo((await api.newUser()).email)).toBeDefined();
  });

  test('never exceed the plan’s limit with 50 concurrent requests', async () => {
    const project = { id: new ObjectId().toHexString(), plan: 'free' as const, ownerKey: newOwnerKey() };
    await setAccountMails(project, limit - 10);
    const counted = await inParallel(50, () => countAccountMail(project, { toNobody: false }));
    expect(counted.filter(Boolean)).toHaveLength(10);
    expect(await countAccountMail({ ...project, plan: 'pro' }, { toNobody: false })).toBe(true);
  });

  test('never exceed the limit of all the plan’s projects, deleted ones included, with 50 concurrent requests', async () => {
    const ownerKey = newOwnerKey();
    const newOne = () => ({ id: new ObjectId().toHexString(), plan: 'free' as const, ownerKey });
    await setAccountMails(newOne(), limit * plans.free.projects - 10);
    const counted = await inParallel(50, () => countAccountMail(newOne(), { toNobody: false }));
    expect(counted.filter(Boolean)).toHaveLength(10);
  });
});
