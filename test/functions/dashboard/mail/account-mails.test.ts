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

const builtIn = 'Confirm your email address for test project';

describe('the emails of a project’s user accounts, sent with its own key', () => {
  test('have the project’s name and the link, also when the developer has verified no address', async () => {
    const name = 'Notes & Co., notes.example';
    const settings = { providerApiKey: newProviderKey(), name };
    const own = await newUsersProject({ owner: await newUnverified('free'), settings });
    const mail = await mailAfterSignUp(own);
    expect(mail.subject).toBe(`Confirm your email address for ${name}`);
    expect(linkIn(mail).href).toMatch(`${site}/verify-email?token=`);
  });

  test('use the project’s template with their key, and their links work', async () => {
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

  test('use the built-in template again when the project’s own is deleted', async () => {
    expect((await mailAfterSignUp()).subject).toBe(builtIn);
  });

  test('use the built-in template when the project’s own would have no subject', async () => {
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

describe('the emails of user accounts, sent with the shared key', () => {
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

  test('have a plain name and a code without any link when the developer’s address is not verified', async () => {
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

  test('have the same name and the link to the site when the address is verified', async () => {
    const shared = await newUsersProject({ settings: attack });
    for (const mail of (await mailsOf(shared)).mails) {
      expect(mail.from).toMatch(/^URGENT wallet suspended Restore at </);
      expect(mail.subject + mail.text.replaceAll(linkIn(mail).href, '')).not.toMatch(/evil|https?:/);
      expect(linkIn(mail).origin).toBe('https://evil.example');
    }
  });

  test('have the default name when the project’s name is only an address', async () => {
    const shared = await newUsersProject({ settings: { name: 'www.evil.example' } });
    const [{ from, subject, text }] = (await mailsOf(shared)).mails;
    expect(from).toBe(inject('stack').env.EMAIL_FROM);
    expect(subject).toBe('Confirm your email address for this app');
    expect(text).toContain('your account at this app');
  });

  test('have the built-in text when the project has its own templates', async () => {
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
