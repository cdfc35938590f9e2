import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenPage, openChromium } from '../support/clients/chromium.ts';
import { confirmAct, openAs } from '../support/clients/console-page.ts';
import { newCredentials, newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: UsersProject;
let opened: OpenPage;

beforeAll(async () => {
  [browser, project] = await Promise.all([openChromium(), newUsersProject()]);
  opened = await openAs(browser, project.developer, `/projects/${project.id}/users`);
});

afterAll(() => browser.close());

const rowOf = (email: string) => opened.page.getByRole('row').filter({ hasText: email });

test('user is created in the console, appears in the list, and can sign in', async () => {
  const { page, problems } = opened;
  const made = newCredentials();
  await page.getByRole('button', { name: 'New user' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Email address').fill(made.email);
  await dialog.getByLabel('Password').fill(made.password);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await rowOf(made.email).waitFor();
  await dialog.waitFor({ state: 'detached' });
  expect((await project.logIn(made)).status).toBe(200);
  expect(problems).toEqual([]);
});

test('session of a user is ended, then the user is disabled, and deleted when the address is typed', async () => {
  const { page, problems } = opened;
  const user = await project.newUser();
  await page.reload();
  await rowOf(user.email).click();
  await page.getByRole('button', { name: 'End', exact: true }).click();
  await page.getByText('Not signed in anywhere.').waitFor();
  expect((await project.refresh(user.refreshToken)).status).toBe(401);
  await page.getByRole('button', { name: 'Disable' }).click();
  const question = page.getByRole('dialog', { name: `Disable ${user.email}` });
  await question.getByText('keep working for up to 15 minutes').waitFor();
  await question.getByRole('button', { name: 'Disable' }).click();
  await rowOf(user.email).getByText('Disabled').waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  await confirmAct(page, 'Delete', user.email);
  await rowOf(user.email).waitFor({ state: 'detached' });
  await expect.poll(() => new URL(page.url()).searchParams.get('open')).toBeNull();
  expect(problems).toEqual([]);
});
