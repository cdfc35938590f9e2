import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { pictureOf, screens, themes, widths } from '../../scripts/screenshots/screens.ts';

const folder = path.resolve(import.meta.dirname, '../../docs/console');
const files = readdirSync(folder);

describe('docs/console', () => {
  test('has a picture of every screen in each theme and width, and no other', () => {
    const wanted = screens.flatMap(({ name }) =>
      themes.flatMap((theme) => widths.map((width) => pictureOf(name, theme, width))),
    );
    expect(files.sort()).toEqual(wanted.sort());
  });

  test('stays under 4 MiB', () => {
    const bytes = files.reduce((sum, file) => sum + statSync(path.join(folder, file)).size, 0);
    expect(bytes).toBeLessThan(4 * 2 ** 20);
  });
});
