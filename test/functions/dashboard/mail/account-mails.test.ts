import { beforeAll, describe, expect, inject, test } from 'vitest';
import { codeIn, linkIn, mailTo } from '../../../support/clients/inbox.ts';
import { newProviderKey } from '../../../support/fixtures/mail-project.ts';
import { newUnverified } from '../../../support/fixtures/project.ts';
import { newCredentials, newUsersProject, site, type UsersProject } from '../../../support/fixtures/users.ts';

let project: UsersProject;

const template = (method: string, id: string, body?: unknown, of = project) =>
  of.developer.dashboard<{ data: { _id: string } }>(
    method,
    `/api/projects/${of.id}/mail/templates${id && `/${id}`}`,
    body,
  );

const mailAfterSignUp = async (of = project) => {
  const credentials = newCredentials();
  await of.signUp(credentials);
  return mailTo(credentials.email);
};

beforeAll(async () => {
  project = await newUsersProject({ settings: { providerApiKey: newProviderKey() } });
});

const builtIn = 'Confirm your e-mail address for test project';

describe("the mails of a project's user accounts, sent with its own key", () => {
  test('have its name as it is, and the link, also where the developer has verified nothing', async () => {
    const name = 'Notes & Co., notes.example';
    const settings = { providerApiKey: newProviderKey(), name };
    const own = await newUsersProject({ owner: await newUnverified('free'), settings });
    const mail = await mailAfterSignUp(own);
    expect(mail.subject).toBe(`Confirm your e-mail address for ${name}`);
    expect(linkIn(mail).href).toMatch(`${site}/verify-email?token=`);
  });

  test('are made from its own template with their key, and work', async () => {
    const { body } = await template('POST', '', {
      name: 'Our verification',
      key: 'Verification',
      subject: 'Ahoy from {{siteName}}',
      text: 'Code {{code}} for {{minutes}} minutes, or {{link}}',
    });
    const credentials = newCredentials();
    await project.signUp(credentials);
    const mail = await mailTo(credentials.email);
    expect(mail.subject).toBe('Ahoy from test project');
    const [, otp, link] = /^Code (\S+) for 10 minutes, or (\S+)$/.exec(mail.text) ?? [];
    expect(link).toMatch(`${site}/verify-email?token=`);
    const verified = await project.auth('POST', 'verify-email', { body: { email: credentials.email, otp } });
    expect(verified.status).toBe(200);
    await template('DELETE', body.data._id);
  });

  test('are the built-in ones again once it is deleted', async () => {
    expect((await mailAfterSignUp()).subject).toBe(builtIn);
  });

  test('are the built-in ones where its own would come out without a subject', async () => {
    const { body } = await template('POST', '', {
      name: 'v',
      key: 'verification',
      subject: '{{no}}',
      text: '{{code}}',
    });
    expect((await mailAfterSignUp()).subject).toBe(builtIn);
    await template('DELETE', body.data._id);
  });
});

describe('the mails of user accounts with the key that all share', () => {
  const attack = {
    name: 'URGENT: wallet suspended. Restore at https://evil.example/x',
    siteUrl: 'https://evil.example/restore',
  };
  const mailsOf = async (of: UsersProject) => {
    const { email, password } = newCredentials();
    await of.signUp({ email, password });
    const verification = await mailTo(email);
    await of.auth('POST', 'request-password-reset', { body: { email } });
    return { email, mails: [verification, await mailTo(email, 2)] as const };
  };

  test('of a developer whose address is not verified: a plain name and a code, without any link', async () => {
    const shared = await newUsersProject({ owner: await newUnverified('free'), settings: attack });
    const { email, mails } = await mailsOf(shared);
    for (const { from, subject, text, html } of mails) {
      expect(from).toMatch(/^URGENT wallet suspended Restore at <[^<>]+>$/);
      expect(subject).toContain('URGENT wallet suspended Restore at');
      expect([subject, text, html].join()).not.toMatch(/evil|https?:|href|\/\/|:\s*wallet/);
      expect(text).toMatch(/\b[A-Z2-9]{4}-[A-Z2-9]{4}\b/);
    }
    const proof = { email, otp: codeIn(mails[0]) };
    expect((await shared.auth('POST', 'verify-email', { body: proof })).status).toBe(200);
  });

  test('of one who has verified it: the same name, and the link to the site', async () => {
    const shared = await newUsersProject({ settings: attack });
    for (const mail of (await mailsOf(shared)).mails) {
      expect(mail.from).toMatch(/^URGENT wallet suspended Restore at </);
      expect(mail.subject + mail.text.replaceAll(linkIn(mail).href, '')).not.toMatch(/evil|https?:/);
      expect(linkIn(mail).origin).toBe('https://evil.example');
    }
  });

  test('of a project whose name is an address alone: what an app without a name has', async () => {
    const shared = await newUsersProject({ settings: { name: 'www.evil.example' } });
    const [{ from, subject, text }] = (await mailsOf(shared)).mails;
    expect(from).toBe(inject('stack').env.EMAIL_FROM);
    expect(subject).toBe('Confirm your e-mail address for this app');
    expect(text).toContain('your account at this app');
  });

  test('have the built-in words, whatever the project would have them say', async () => {
    const shared = await newUsersProject();
    for (const key of ['verification', 'password-reset']) {
      const body = { name: key, key, subject: 'Your bank account is limited', text: 'Pay now. {{code}}' };
      expect((await template('POST', '', body, shared)).status).toBe(201);
    }
    const credentials = newCredentials();
    await shared.signUp(credentials);
    const { email } = credentials;
    const verification = await mailTo(email);
    await shared.auth('POST', 'request-password-reset', { body: { email } });
    const reset = await mailTo(email, 2);
    expect(verification.subject).toBe(builtIn);
    for (const { subject, text, html } of [verification, reset]) {
      expect(subject + text + html).not.toMatch(/bank account|Pay now/);
    }
  });
});
