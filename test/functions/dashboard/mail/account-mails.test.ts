import { beforeAll, describe, expect, test } from 'vitest';
import { mailTo } from '../../../support/inbox.ts';
import { newCredentials, newUsersProject, site, type UsersProject } from '../../../support/users.ts';

let project: UsersProject;

const template = (method: string, id: string, body?: unknown) =>
  project.developer.dashboard<{ data: { _id: string } }>(
    method,
    `/api/projects/${project.id}/mail/templates${id && `/${id}`}`,
    body,
  );

const mailAfterSignUp = async () => {
  const credentials = newCredentials();
  await project.signUp(credentials);
  return mailTo(credentials.email);
};

beforeAll(async () => {
  project = await newUsersProject();
});

describe("the mails of a project's user accounts", () => {
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
    expect((await mailAfterSignUp()).subject).toBe('Confirm your e-mail address for test project');
  });

  test('are the built-in ones where its own would come out without a subject', async () => {
    const { body } = await template('POST', '', {
      name: 'v',
      key: 'verification',
      subject: '{{no}}',
      text: '{{code}}',
    });
    expect((await mailAfterSignUp()).subject).toBe('Confirm your e-mail address for test project');
    await template('DELETE', body.data._id);
  });
});
