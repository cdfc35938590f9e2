import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newSigningKey } from '../../shared/accounts/tokens.ts';
import { createProject } from '../../shared/projects/create-project.ts';
import { projectRecords } from '../../shared/projects/project.ts';
import { openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { idOf } from '../support/fixtures/members.ts';
import { newDeveloper } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;

beforeAll(async () => {
  browser = await openChromium();
});

afterAll(() => browser.close());

test('list, menu, ⌘K and token form show all projects when there is more than one page of them', async () => {
  const developer = await newDeveloper();
  const developerId = new ObjectId(await idOf(developer));
  const ids = [];
  for (let at = 100; at <= 200; at++) {
    const owner = { id: new ObjectId().toHexString(), plan: 'free' } as const;
    const { _id } = await createProject(owner, { name: `project ${at}` }, newSigningKey);
    ids.push(new ObjectId(_id));
  }
  const members = [{ developerId, role: 'admin' as const, addedAt: new Date() }];
  await projectRecords.updateMany({ _id: { $in: ids } }, { $set: { members } });

  const { page, problems } = await openAs(browser, developer, '/');
  for (const [last, range] of [
    ['project 151', '1–50 of 101'],
    ['project 101', '51–100 of 101'],
    ['project 100', '101–101 of 101'],
  ] as const) {
    await page.getByRole('list', { name: 'Projects' }).getByRole('link', { name: last }).waitFor();
    await page.getByText(range).waitFor();
    if (last !== 'project 100') await page.getByRole('button', { name: 'Next page' }).click();
  }
  await page.getByRole('list', { name: 'Projects' }).getByRole('link', { name: 'project 100' }).click();
  const menu = page.getByTitle('Projects');
  await menu.getByText('project 100').waitFor();
  await menu.click();
  await page.getByRole('link', { name: 'project 100 Admin' }).waitFor();
  await page.keyboard.press('Escape');

  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to' }).fill('project 100');
  await page.getByRole('option', { name: 'project 100', exact: true }).waitFor();
  await page.keyboard.press('Escape');

  await page.goto(new URL('/account', page.url()).href);
  await page.getByRole('button', { name: 'New token' }).click();
  await expect.poll(() => page.getByRole('option', { name: /^project / }).count()).toBe(101);
  expect(problems).toEqual([]);
});
