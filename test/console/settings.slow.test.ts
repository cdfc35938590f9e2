import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newMember } from '../support/fixtures/members.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;

beforeAll(async () => {
  browser = await openChromium();
  project = await newProject([{ name: 'posts' }]);
  opened = await openAs(browser, project.developer, `/projects/${project.id}/settings/connections`);
});

afterAll(() => browser.close());

const openPart = async (part: string) => {
  await opened.page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/settings/${part}`);
};

const confirm = async (act: string, name: string) => {
  const dialog = opened.page.getByRole('dialog');
  await dialog.getByLabel(`Type ${name}`).fill(name);
  await dialog.getByRole('button', { name: act }).click();
  await dialog.waitFor({ state: 'detached' });
};

describe('the settings in the console', () => {
  test('connect an external bucket, show its CORS rules, and disconnect it when its address is typed', async () => {
    const { page, problems } = opened;
    const { endpoint, region, bucket, accessKeyId, secretAccessKey } = inject('externalS3');
    await page.getByLabel('Endpoint').fill(endpoint);
    await page.getByLabel('Region').fill(region);
    await page.getByLabel('Bucket').fill(bucket);
    await page.getByLabel('Access key id').fill(accessKeyId);
    await page.getByLabel('Secret access key').fill(secretAccessKey);
    await page.getByRole('button', { name: 'Connect' }).last().click();
    await page.getByText('"AllowedMethods"').waitFor();
    await page.getByRole('button', { name: "Use Basalt's own again" }).click();
    await confirm("Use Basalt's own again", endpoint);
    await page.getByRole('button', { name: "Use Basalt's own again" }).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('show the addresses that providers need, and delete a mail key when the project name is typed', async () => {
    const { page, problems } = opened;
    await openPart('sign-in');
    await page.getByRole('heading', { name: 'Google' }).click();
    await page.getByText(`${inject('stack').baseUrl}/api/userAuth/social/google/callback`).waitFor();
    const added = page.locator('section').filter({ hasText: 'Another OpenID Connect provider' });
    await added.getByLabel('Name').fill('acme');
    await added.getByLabel('Issuer').fill(inject('stack').env.OPENID_ISSUER_URL ?? '');
    await added.getByLabel('Client id').fill('client');
    await added.getByLabel('Client secret').fill('secret');
    await added.getByRole('button', { name: 'Add provider' }).click();
    await page.getByText(`${inject('stack').baseUrl}/api/userAuth/social/oidc:acme/callback`).waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove provider' }).click();
    await confirm('Remove provider', 'oidc:acme');
    await page.getByRole('heading', { name: 'oidc:acme' }).waitFor({ state: 'detached' });
    await openPart('mail');
    await page.getByLabel('Resend API key').fill('re_mine');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(`${inject('stack').baseUrl}/api/mail/webhook/${project.id}`).waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('button', { name: 'Use the shared account again' }).click();
    await confirm('Use the shared account again', 'test project');
    await page.getByText('Without a key, emails are sent with the shared account.').waitFor();
    expect(problems).toEqual([]);
  });

  test('remove a member when the email address is typed', async () => {
    const { page, problems } = opened;
    const member = await newMember(project, 'viewer');
    await openPart('members');
    const row = page.getByRole('row').filter({ hasText: member.email });
    await row.getByRole('button', { name: 'Remove' }).click();
    await confirm('Remove', member.email);
    await row.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });
});
