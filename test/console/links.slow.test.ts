import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type OpenPage, obstacles, openChromium, signIn } from '../support/clients/chromium.ts';
import { codeIn, linkIn, mailAbout } from '../support/clients/inbox.ts';
import { type Developer, newDeveloper, newProject, newUnverified } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;

beforeAll(async () => {
  browser = await openChromium();
});

afterAll(() => browser.close());

/** Opens the link of an email, signed in as `as` if it is given. */
const follow = async (email: string, subject: RegExp, as?: Developer): Promise<OpenPage> => {
  const link = linkIn(await mailAbout(email, subject));
  expect(link.origin).toBe(inject('stack').dashboardUrl);
  const opened = await browser.newPage();
  if (as) {
    await opened.page.goto(link.origin);
    await signIn(opened.page, as);
    await opened.page.getByRole('heading', { name: 'Projects' }).waitFor();
  }
  await opened.page.goto(link.href);
  return opened;
};

test.each(['signed in', 'signed out'])('link of the verification email works when %s', async (state) => {
  const developer = await newUnverified();
  await developer.dashboard('POST', '/api/auth/resend-verification', { email: developer.email });
  const { page, problems } = await follow(developer.email, /Confirm/, state === 'signed in' ? developer : undefined);
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('Your address is verified.').waitFor();
  const me = await developer.dashboard<{ data: { emailVerified: boolean } }>('GET', '/api/auth/me');
  expect(me.body.data.emailVerified).toBe(true);
  expect(problems).toEqual([]);
});

test.each(['signed in', 'signed out'])('code of the verification email works when %s', async (state) => {
  const developer = await newUnverified();
  await developer.dashboard('POST', '/api/auth/resend-verification', { email: developer.email });
  const { page, problems } = await follow(developer.email, /Confirm/, state === 'signed in' ? developer : undefined);
  await page.goto(`${inject('stack').dashboardUrl}/verify-email`);
  const warning = page.getByText('You are not signed in here.');
  await page.getByLabel('Email address').fill(developer.email);
  expect(await warning.count()).toBe(state === 'signed in' ? 0 : 1);
  await page.getByLabel('Code').fill('AAAA-2222');
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByRole('alert').waitFor();
  expect(await obstacles(page)).toEqual([]);
  await page.getByLabel('Code').fill(codeIn(await mailAbout(developer.email, /Confirm/)));
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('Your address is verified.').waitFor();
  await page.getByRole('link', { name: 'Projects' }).first().click();
  const next = state === 'signed in' ? 'Projects' : 'Sign in';
  await page.getByRole('heading', { name: next, exact: true }).waitFor();
  const me = await developer.dashboard<{ data: { emailVerified: boolean } }>('GET', '/api/auth/me');
  expect(me.body.data.emailVerified).toBe(true);
  expect(problems).toEqual([]);
});

test.each(['signed in', 'signed out'])('link of the reset email sets a password when %s', async (state) => {
  const developer = await newDeveloper();
  await developer.dashboard('POST', '/api/auth/request-password-reset', { email: developer.email });
  const { page, problems } = await follow(developer.email, /Reset/, state === 'signed in' ? developer : undefined);
  await page.getByLabel('New password').fill('another correct horse');
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await signIn(page, { email: developer.email, password: 'another correct horse' });
  await page.getByRole('heading', { name: 'Projects' }).waitFor();
  expect(problems).toEqual([]);
});

test.each(['signed in', 'signed out'])('link of the invitation opens the project when %s', async (state) => {
  const [{ id, developer }, guest] = [await newProject(), await newDeveloper()];
  await developer.dashboard('POST', `/api/projects/${id}/members/invitations`, { email: guest.email, role: 'viewer' });
  const { page, problems } = await follow(guest.email, /invited/, state === 'signed in' ? guest : undefined);
  if (state === 'signed out') await signIn(page, guest);
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByRole('heading', { name: 'test project' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/projects/${id}`);
  expect(problems).toEqual([]);
});
