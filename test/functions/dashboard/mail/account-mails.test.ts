import { beforeAll, describe, expect, test } from 'vitest';
import { mailTo } from '../../../support/inbox.ts';
import { newProviderKey } from '../../../support/mail-project.ts';
import { newCredentials, newUsersProject, site, type UsersProject } from '../../../support/users.ts';

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
