import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { type OpenPage, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { receiversAmong } from '../support/clients/receiver-addresses.ts';
import { newUsersProject, type UsersProject } from '../support/fixtures/users.ts';
import { onWebhooksOf } from '../support/fixtures/webhooks.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: UsersProject;
let opened: OpenPage;
let webhookId: string;
let userId: string;

beforeAll(async () => {
  [browser, project] = await Promise.all([openChromium(), newUsersProject()]);
  await project.addCollection({ name: 'posts' });
  const [receiver] = receiversAmong(inject('stack').env.PERMITTED_ADDRESSES);
  const webhook = { url: `http://${receiver}/hooks`, events: ['user.created'] };
  webhookId = (await onWebhooksOf(project)('POST', '', webhook)).body.data._id;
  userId = String((await project.newUser()).user._id);
  opened = await openAs(browser, project.developer, '/');
});

afterAll(() => browser.close());

beforeEach(() => {
  opened.problems.length = 0;
});

const open = async (path: string) => {
  await opened.page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}${path}`);
  const { page } = opened;
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  return { page, question };
};

describe('unsaved text', () => {
  test('in a dialog survives Escape, pressed twice, and Cancel', async () => {
    const { page, question } = await open('/mail/templates');
    await page.getByRole('button', { name: 'New template' }).click();
    const html = page.getByLabel('HTML');
    await html.fill('<p>Hello</p>');
    const leave = [
      () => page.keyboard.press('Escape'),
      () => page.keyboard.press('Escape'),
      () => page.getByRole('button', { name: 'Cancel' }).click(),
    ];
    for (const act of leave) {
      await act();
      await question.getByRole('button', { name: 'Keep editing' }).click();
      await question.waitFor({ state: 'detached' });
      expect(await html.inputValue()).toBe('<p>Hello</p>');
    }
    await page.keyboard.press('Escape');
    await question.getByRole('button', { name: 'Discard changes' }).click();
    await html.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'New template' }).click();
    await page.keyboard.press('Escape');
    await html.waitFor({ state: 'detached' });
    expect(opened.problems).toEqual([]);
  });

  test.each([
    ['a new webhook', '/settings/webhooks', 'New webhook', 'Address'],
    ['a changed webhook', () => `/settings/webhooks?open=${webhookId}`, 'Edit', 'Address'],
    ['a new user', '/users', 'New user', 'Email address'],
    ['a changed user', () => `/users?open=${userId}`, 'Edit', 'Email address'],
  ])('in a dialog is discarded only after a question: %s', async (_, path, act, label) => {
    const { page, question } = await open(typeof path === 'string' ? path : path());
    await page.getByRole('button', { name: act, exact: true }).click();
    const field = page.getByRole('dialog').getByLabel(label);
    await field.fill('typed');
    for (const leave of [
      () => page.keyboard.press('Escape'),
      () => page.getByRole('button', { name: 'Cancel' }).click(),
    ]) {
      await leave();
      await question.getByRole('button', { name: 'Keep editing' }).click();
      await question.waitFor({ state: 'detached' });
      expect(await field.inputValue()).toBe('typed');
    }
    await page.keyboard.press('Escape');
    await question.getByRole('button', { name: 'Discard changes' }).click();
    await field.waitFor({ state: 'detached' });
    expect(opened.problems).toEqual([]);
  });

  test('is discarded only after a question until each form of the page is saved', async () => {
    const { page, question } = await open('/settings/connections');
    const { endpoint, region, bucket, accessKeyId, secretAccessKey } = inject('externalS3');
    await page.getByLabel('MongoDB URI').fill('mongodb://typed.example');
    await page.getByLabel('Endpoint').fill(endpoint);
    await page.getByLabel('Region').fill(region);
    await page.getByLabel('Bucket').fill(bucket);
    await page.getByLabel('Access key id').fill(accessKeyId);
    await page.getByLabel('Secret access key').fill(secretAccessKey);
    await page.getByRole('button', { name: 'Connect' }).last().click();
    await page.getByText('"AllowedMethods"').waitFor();
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await question.getByRole('button', { name: 'Keep editing' }).click();
    expect(await page.getByLabel('MongoDB URI').inputValue()).toBe('mongodb://typed.example');
    expect(opened.problems).toEqual([]);
  });

  test('in a dialog is protected when Escape is pressed before the next frame', async () => {
    const { page, question } = await open('/mail/templates');
    await page.getByRole('button', { name: 'New template' }).click();
    await page.getByLabel('HTML').waitFor();
    await page.evaluate(`(async () => {
      const field = [...document.querySelectorAll('dialog textarea')].at(-1);
      field.value = 'typed';
      field.dispatchEvent(new InputEvent('input', { bubbles: true }));
      await new Promise((resolve) => setTimeout(resolve));
      field.closest('dialog').dispatchEvent(new Event('cancel', { cancelable: true }));
    })()`);
    await question.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByLabel('HTML').waitFor({ state: 'detached' });
    expect(opened.problems).toEqual([]);
  });

  test.each([
    ['a schema', '/documents/posts/schema', 'Name of field 1', 'Indexes'],
    ['a new collection', '/new-collection', 'Name', 'Users'],
    ['settings', '/settings/general', 'Name', 'Keys'],
    ['how mail is sent', '/settings/mail', 'Sender', 'Keys'],
    ['a directory', '/settings/sign-in', 'Fields that are shown', 'Keys'],
    ['a connection', '/settings/connections', 'MongoDB URI', 'Keys'],
  ])('survives a click on a link: %s', async (_, path, label, link) => {
    const { page, question } = await open(path);
    if (label === 'Name of field 1') await page.getByRole('button', { name: 'Add a field' }).click();
    await page.getByLabel(label, { exact: true }).first().fill('typed');
    await page.getByRole('link', { name: link, exact: true }).click();
    await question.getByRole('button', { name: 'Keep editing' }).click();
    expect(await page.getByLabel(label, { exact: true }).first().inputValue()).toBe('typed');
    expect(opened.problems).toEqual([]);
  });

  test('causes no question after it is saved', async () => {
    const { page, question } = await open('/settings/general');
    await page.getByLabel('Name', { exact: true }).fill('Saved');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByRole('heading', { name: 'Publishable key' }).waitFor();
    expect(await question.count()).toBe(0);
  });
});
