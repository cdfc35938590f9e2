import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { mailTo } from '../support/clients/inbox.ts';
import { newMailProject } from '../support/fixtures/mail-project.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;

beforeAll(async () => {
  browser = await openChromium();
});

afterAll(() => browser.close());

/** Tries to run scripts, load files and change the look of the page. */
const hostile = `<style>@import url(https://evil.example/a.css); p { color: rgb(0, 128, 0) }</style>
<p style="font-size: 31px; background: url(https://evil.example/b.png)">Hello</p>
<img src="https://evil.example/c.png" onerror="top.document.title = 'run'" alt="Cat">
<a href="javascript:top.document.title = 'run'">Go</a><form action="https://evil.example"><button>Send</button></form>
<script>top.document.title = 'run'</script><iframe src="https://evil.example"></iframe>`;

/** Evaluates an expression over the `page` of the preview from outside, because no script runs inside. */
const inPreview = (expression: string): string =>
  `((page) => ${expression})(document.querySelector('iframe').contentDocument)`;

test.each(['audiences', 'broadcasts'])('%s are not offered without a mail provider key', async (part) => {
  const project = await newMailProject('pro', null);
  const { page, problems } = await openAs(browser, project.developer, `/projects/${project.id}/mail/${part}`);
  await page.getByText('need your own mail provider key').waitFor();
  expect(await page.getByRole('button', { name: /^New (?:audience|broadcast)$/ }).count()).toBe(0);
  expect(problems).toEqual([]);
});

describe('audiences and broadcasts in the console', () => {
  let project: TestProject;
  let opened: OpenPage;
  const address = `ada-${Date.now()}@example.com`;

  beforeAll(async () => {
    project = await newMailProject('pro');
    opened = await openAs(browser, project.developer, `/projects/${project.id}/mail/audiences`);
  });

  test('audience adds contacts from lines of CSV, and rejected lines stay with the reason', async () => {
    const { page, problems } = opened;
    await page.getByRole('button', { name: 'New audience' }).click();
    await page.getByLabel('Name').fill('Readers');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('No contacts yet.').waitFor();
    const lines = page.getByLabel('Add contacts');
    await lines.fill(`email,first name,last name\n${address},Ada,"Lovelace, Countess"\nno address\ngrace@example.com`);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('2 contacts added').waitFor();
    await page.getByRole('cell', { name: 'Ada Lovelace, Countess' }).waitFor();
    await expect.poll(() => lines.inputValue()).toBe('no address');
    await page.getByRole('alert').getByText('must be an email address').waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('contact unsubscribes, is removed, and is restored unchanged by Undo', async () => {
    const { page, problems } = opened;
    const row = page.getByRole('row').filter({ hasText: 'grace@example.com' });
    await row.getByRole('button', { name: 'Unsubscribe' }).click();
    await row.getByText('Unsubscribed').waitFor();
    await row.getByRole('button', { name: 'Remove' }).click();
    const undo = page.getByRole('button', { name: 'Undo' });
    await undo.hover();
    await row.waitFor({ state: 'detached' });
    await undo.click();
    await row.getByText('Unsubscribed').waitFor();
    expect(problems).toEqual([]);
  });

  test('broadcast is previewed, and sent to subscribed contacts when its subject is typed', async () => {
    const { page, problems } = opened;
    await page.getByRole('link', { name: 'Broadcasts' }).click();
    await page.getByRole('button', { name: 'New broadcast' }).click();
    await page.getByLabel('Subject').fill('News (of May)');
    await page.getByLabel('HTML').fill(hostile);
    await page.getByRole('button', { name: 'Save draft' }).click();
    await page.getByText('Draft').first().waitFor();
    await page.locator('iframe').waitFor();
    const style = inPreview(`(({ fontSize, color, backgroundImage } = {}) => ({ fontSize, color, backgroundImage }))(
        page.querySelector('p') ? getComputedStyle(page.querySelector('p')) : undefined)`);
    await expect
      .poll(() => page.evaluate(style))
      .toEqual({ fontSize: '31px', color: 'rgb(0, 128, 0)', backgroundImage: 'none' });
    const left = inPreview('page.querySelectorAll("script, iframe, style, [onerror], [src], [href], [action]").length');
    await expect.poll(() => page.evaluate(left)).toBe(0);
    expect(await page.title()).toBe('Mail · Basalt');
    await page.getByRole('button', { name: 'Send now' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Type its subject').fill('News');
    await dialog.getByRole('button', { name: 'Send now' }).click();
    expect(await dialog.isVisible()).toBe(true);
    await dialog.getByLabel('Type its subject').fill('News (of May)');
    await dialog.getByRole('button', { name: 'Send now' }).click();
    await page.getByRole('status').getByText('Sent to Readers').waitFor();
    expect((await mailTo(address)).subject).toBe('News (of May)');
    await page.getByRole('table').getByText('Sent', { exact: true }).last().waitFor();
    expect(problems).toEqual([]);
  });

  test('draft is deleted when its subject is typed, and an audience when its name is typed', async () => {
    const { page, problems } = opened;
    await page.getByRole('button', { name: 'New broadcast' }).click();
    await page.getByLabel('Subject').fill('Never');
    await page.getByLabel('HTML').fill('<p>Never</p>');
    await page.getByLabel('Send at').fill('2099-01-01T09:00');
    await page.getByRole('button', { name: 'Save draft' }).click();
    await page.getByText('Scheduled', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByLabel('Type its subject').fill('Never');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Scheduled', { exact: true }).first().waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Audiences' }).click();
    await page.getByRole('link', { name: 'Readers' }).click();
    await page.getByRole('button', { name: 'Delete the audience' }).click();
    await page.getByLabel('Type its name').fill('Readers');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('An audience is a list of contacts').waitFor();
    expect(problems).toEqual([]);
  });
});

describe('the mail log in the console', () => {
  test('reloads until the email has arrived, and shows its status from the provider', async () => {
    const project = await newMailProject('pro');
    const { page, problems } = await openAs(browser, project.developer, `/projects/${project.id}/mail/logs`);
    await page.getByText('No email sent yet').waitFor();
    await project.api('POST', '/api/mail/send', { body: { to: 'bounced@resend.dev', subject: 'Moving', text: 'x' } });
    await page.reload();
    await page.getByRole('link', { name: 'Moving' }).click();
    await page.getByText('Bounced').first().waitFor();
    await page.getByText('"last_event"').waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('403 OWN_MAIL_KEY_REQUIRED is shown with a link to the page that sets a key', async () => {
    const project = await newProject();
    const { page } = await openAs(browser, project.developer, `/projects/${project.id}/mail/audiences`);
    await page.getByRole('link', { name: 'Set your own key' }).click();
    await page.getByLabel('Resend API key').waitFor();
  });
});

describe('mail templates in the console', () => {
  test('show a preview of their emails, built-in templates too', async () => {
    const project = await newProject();
    const { page, problems } = await openAs(browser, project.developer, `/projects/${project.id}/mail/templates`);
    await page.getByRole('link', { name: 'Welcome', exact: true }).click();
    await page.locator('iframe').waitFor();
    await expect.poll(() => page.evaluate(inPreview('page.querySelector("p") !== null'))).toBe(true);
    expect(problems).toEqual([]);
  });
});
