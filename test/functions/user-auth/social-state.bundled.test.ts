import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { consumeState, startState } from '../../../shared/accounts/social/start-sign-in.ts';
import { clock } from '../../../shared/core/clock.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { Browser, target } from '../../support/clients/browser.ts';
import { inParallel } from '../../support/clients/client.ts';
import {
  consent,
  type Landing,
  landingOf,
  newSocialProject,
  startUrl,
  storedUsers,
} from '../../support/clients/social.ts';
import type { TestProject } from '../../support/fixtures/project.ts';

const outdated = /^This sign-in has expired, was already used, or began in another browser/;
const failure = (error: string | RegExp) => ({
  error: typeof error === 'string' ? error : expect.stringMatching(error),
  token: '',
  rtCode: '',
  userId: '',
});

const follow = async (browser: Browser, callback: URL | string): Promise<Landing> =>
  landingOf(target(await browser.open(String(callback))));

const changed = (url: URL, change: (copy: URL) => void): URL => {
  const copy = new URL(url);
  change(copy);
  return copy;
};

let project: TestProject;
let other: TestProject;
beforeAll(async () => {
  project = await newSocialProject();
  other = await newSocialProject();
});

const begin = async (who = 'octocat'): Promise<{ readonly browser: Browser; readonly callback: URL }> => {
  const browser = new Browser();
  return { browser, callback: await consent(browser, startUrl(project, 'github'), who) };
};

describe('a state', () => {
  test('is valid once', async () => {
    const { browser, callback } = await begin();
    expect((await follow(browser, callback)).error).toBeNull();
    expect(await follow(browser, callback)).toMatchObject(failure(outdated));
  });

  test('is valid for one of 50 concurrent callbacks', async () => {
    const { browser, callback } = await begin();
    const landings = await inParallel(50, () => follow(browser, callback));
    expect(landings.filter(({ error }) => error === null)).toHaveLength(1);
    expect(landings.filter(({ token, rtCode }) => token !== '' || rtCode !== '')).toHaveLength(1);
  });

  test('is useless in another browser, which does not consume it', async () => {
    const { browser, callback } = await begin();
    expect(await follow(new Browser(), callback)).toMatchObject(failure(outdated));

    const attacker = await begin('ada');
    const swapped = changed(callback, (url) => {
      url.searchParams.set('state', attacker.callback.searchParams.get('state') ?? '');
    });
    expect(await follow(browser, swapped)).toMatchObject(failure(outdated));
    expect((await follow(browser, callback)).error).toBeNull();
    expect((await follow(attacker.browser, attacker.callback)).error).toBeNull();
  });

  test('is useless for the other provider', async () => {
    const { browser, callback } = await begin();
    const moved = changed(callback, (url) => {
      url.pathname = url.pathname.replace('github', 'google');
    });
    expect(await follow(browser, moved)).toMatchObject(failure(outdated));
  });

  test('is useless for another project', async () => {
    const { browser, callback } = await begin();
    const moved = changed(callback, (url) => {
      const state = url.searchParams.get('state') ?? '';
      url.searchParams.set('state', state.replace(project.id, other.id));
    });
    expect(await follow(browser, moved)).toMatchObject(failure(outdated));
    expect(await storedUsers(other)).toEqual([]);
  });

  test('of two tabs of one browser is valid for each', async () => {
    const browser = new Browser();
    const first = await consent(browser, startUrl(project, 'github'), 'octocat');
    const second = await consent(browser, startUrl(project, 'google'), 'grace@example.com');
    expect((await follow(browser, first)).error).toBeNull();
    expect((await follow(browser, second)).error).toBeNull();
  });

  test('is consumed by an error of the provider, whose text is not repeated', async () => {
    const { browser, callback } = await begin();
    const refused = (error: string) =>
      changed(callback, (url) => {
        url.searchParams.delete('code');
        url.searchParams.set('error', error);
        url.searchParams.set('error_description', 'Call +1 555 0100 to unlock your account');
      });
    expect(await follow(browser, refused('access_denied'))).toMatchObject(
      failure('Signing in with GitHub was cancelled.'),
    );
    expect(await follow(browser, callback)).toMatchObject(failure(outdated));

    const next = await begin();
    const landing = await follow(
      next.browser,
      changed(next.callback, (url) => url.searchParams.set('error', '<script>alert(1)</script>')),
    );
    expect(landing).toMatchObject(failure('GitHub did not confirm the sign-in. Retry.'));
    expect(landing.url.href).not.toContain('script');
  });

  test.each([
    ['no code', (url: URL) => url.searchParams.delete('code')],
    ['an empty code', (url: URL) => url.searchParams.set('code', '')],
    ['a code of nobody', (url: URL) => url.searchParams.set('code', 'f'.repeat(40))],
  ])('fails with %s', async (_, change) => {
    const { browser, callback } = await begin();
    expect(await follow(browser, changed(callback, change))).toMatchObject(
      failure('GitHub did not confirm the sign-in. Retry.'),
    );
  });

  test('fails with a code that was redeemed before', async () => {
    const first = await begin();
    await follow(first.browser, first.callback);
    const second = await begin();
    const replayed = changed(second.callback, (url) =>
      url.searchParams.set('code', first.callback.searchParams.get('code') ?? ''),
    );
    expect(await follow(second.browser, replayed)).toMatchObject(failure('GitHub did not confirm the sign-in. Retry.'));
  });
});

const isGood = async (...of: Parameters<typeof consumeState>) => (await consumeState(...of)) !== undefined;

describe('a state, in the table', () => {
  const verifier = 'v'.repeat(43);

  test.each<[string, (state: string) => Parameters<typeof consumeState>]>([
    ['another verifier', (state) => [projectScope(project.id), state, 'github', 'w'.repeat(43)]],
    ['an empty verifier', (state) => [projectScope(project.id), state, 'github', '']],
    ['another provider', (state) => [projectScope(project.id), state, 'google', verifier]],
    ['another project', (state) => [projectScope(other.id), state, 'github', verifier]],
    ['another state', (state) => [projectScope(project.id), `${state}x`, 'github', verifier]],
  ])('is not consumed with %s', async (_, withOther) => {
    const state = await startState(projectScope(project.id), 'github', verifier);
    expect(await isGood(...withOther(state))).toBe(false);
    expect(await isGood(projectScope(project.id), state, 'github', verifier)).toBe(true);
    expect(await isGood(projectScope(project.id), state, 'github', verifier)).toBe(false);
  });
});

describe('a state, by the clock', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test.each([
    [599, true],
    [600, false],
    [601, false],
  ])('after %i s is valid: %s', async (seconds, good) => {
    const verifier = 'v'.repeat(43);
    const now = Math.ceil(clock.now() / 1000) * 1000;
    vi.spyOn(clock, 'now').mockReturnValue(now);
    const state = await startState(projectScope(project.id), 'github', verifier);
    vi.spyOn(clock, 'now').mockReturnValue(now + seconds * 1000);
    expect(await isGood(projectScope(project.id), state, 'github', verifier)).toBe(good);
  });
});
