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

  test('turn a provider on after they show what it lacks and its callback URL', async () => {
    const { page, problems } = opened;
    await openPart('sign-in');
    const tile = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Google' }) });
    await tile.getByText('Not set up').waitFor();
    await tile.click();
    const dialog = page.getByRole('dialog', { name: 'Google' });
    await dialog.getByText(`${inject('stack').baseUrl}/api/userAuth/social/google/callback`).waitFor();
    await dialog.getByText('Missing: Client id, Client secret').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await dialog.getByLabel('Client id').fill('client');
    await dialog.getByText('Missing: Client secret').waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Client secret is required to enable the provider').waitFor();
    await dialog.getByLabel('Enabled').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await tile.getByText('Missing: Client secret').waitFor();
    await tile.getByRole('link').press('Enter');
    await dialog.getByLabel('Client secret').fill('secret');
    await dialog.getByLabel('Enabled').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await tile.getByText('Missing: App URL').waitFor();
    await tile.getByText('Incomplete').waitFor();
    const general = await page.getByRole('link', { name: 'Set the app URL' }).getAttribute('href');
    expect(general).toBe(new URL(page.url()).pathname.replace('sign-in', 'general'));
    expect(new URL(page.url()).search).toBe('');
    expect(problems).toEqual([]);
  });

  test('add and remove a provider by OpenID Connect', async () => {
    const { page, problems } = opened;
    await openPart('sign-in');
    await page.getByRole('link', { name: 'Add provider' }).click();
    const added = page.getByRole('dialog', { name: 'Add provider' });
    await added.getByLabel('Name').fill('acme');
    await added.getByText(`${inject('stack').baseUrl}/api/userAuth/social/oidc:acme/callback`).waitFor();
    await added.getByLabel('Issuer').fill(inject('stack').env.OPENID_ISSUER_URL ?? '');
    await added.getByLabel('Client id').fill('client');
    await added.getByLabel('Client secret').fill('secret');
    expect(await obstacles(page)).toEqual([]);
    await added.getByRole('button', { name: 'Add provider' }).click();
    await page.getByRole('dialog', { name: 'acme' }).getByRole('button', { name: 'Remove provider' }).click();
    const confirmation = page.getByRole('dialog', { name: 'Remove provider' });
    await confirmation.getByLabel('Type oidc:acme').fill('oidc:acme');
    await confirmation.getByRole('button', { name: 'Remove provider' }).click();
    await page.getByRole('link', { name: 'acme' }).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('delete a mail key when the project name is typed', async () => {
    const { page, problems } = opened;
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
