import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressOf, screens, themes } from '../../scripts/screenshots/screens.ts';
import { obstacles, openChromium, signIn } from '../support/clients/chromium.ts';
import { consoleOrigin } from '../support/fixtures/passkeys.ts';
import { newShownProjects } from '../support/fixtures/shown-projects.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;

beforeAll(async () => {
  browser = await openChromium();
});

afterAll(() => browser.close());

describe('every screen', () => {
  test.each(themes)(
    'has no obstacles at either width, repeated requests or overflow in the %s theme',
    async (colorScheme) => {
      const projects = await newShownProjects();
      // A color that is still changing has no contrast of its own.
      const settings = { colorScheme, reducedMotion: 'reduce' } as const;
      const [member, stranger] = [await browser.newPage(settings), await browser.newPage(settings)];
      await member.page.goto(consoleOrigin());
      await signIn(member.page, projects.developer);
      await member.page.getByRole('heading', { name: 'Projects' }).waitFor();
      await member.page.waitForLoadState('networkidle');
      const found: string[] = [];
      const asked: string[] = [];
      for (const { page } of [member, stranger])
        page.on('request', (request) => asked.push(`${request.method()} ${request.url()}`));
      for (const screen of screens) {
        const { name, as, act } = screen;
        const { page } = as === 'stranger' ? stranger : member;
        asked.length = 0;
        await page.goto(consoleOrigin() + addressOf(screen, projects));
        await page.locator('main h1').waitFor();
        await page.waitForLoadState('networkidle');
        // The page of a beginner polls for the first document.
        const twice = as === 'beginner' ? [] : asked.filter((request, place) => asked.indexOf(request) !== place);
        found.push(...twice.map((request) => `${name} makes twice: ${request}`));
        await act?.(page);
        await page.waitForLoadState('networkidle');
        await page.setViewportSize({ width: 390, height: 844 });
        const width = await page.evaluate<number>('document.documentElement.scrollWidth');
        if (width > 390) found.push(`${name} is ${width} pixels wide on a phone`);
        found.push(...(await obstacles(page)).map((obstacle) => `${name} on a phone ${obstacle}`));
        await page.setViewportSize({ width: 1440, height: 900 });
        found.push(...(await obstacles(page)).map((obstacle) => `${name} ${obstacle}`));
      }
      expect(found).toEqual([]);
      expect([...member.problems, ...stranger.problems]).toEqual([]);
    },
  );
});
