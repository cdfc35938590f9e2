import { globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { pictureOf, screens, shownPictures, themes, widths } from '../../scripts/screenshots/screens.ts';

const root = path.resolve(import.meta.dirname, '../..');

describe('docs/console', () => {
  test('has only the images that guides show', () => {
    expect(readdirSync(path.join(root, 'docs/console')).sort()).toEqual([...shownPictures].sort());
  });

  test('has only images of screens that the script takes', () => {
    const taken = screens.flatMap(({ name }) =>
      themes.flatMap((theme) => widths.map((width) => pictureOf(name, theme, width))),
    );
    expect(shownPictures.filter((picture) => !taken.includes(picture))).toEqual([]);
  });

  test.each(shownPictures)('has %s because a guide shows it', (picture) => {
    const pages = globSync('docs/**/*.md', { cwd: root }).map((page) => readFileSync(path.join(root, page), 'utf8'));
    expect(pages.some((page) => page.includes(`](../console/${picture})`))).toBe(true);
  });
});
