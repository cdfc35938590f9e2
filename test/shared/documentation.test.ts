import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import { shownAreas } from '../../scripts/reference/api-pages.ts';
import { meaningsOfCodes } from '../../scripts/reference/errors-page.ts';
import { generated } from '../../scripts/reference/generated.ts';
import { referencePages } from '../../scripts/reference/pages.ts';
import { statusOf } from '../../shared/core/errors.ts';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...globSync('docs/**/*.md', { cwd: root })];

/** Anchors of a page's headings, as GitHub creates them. */
const anchorsOf = (page: string): readonly string[] =>
  [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

test('the README is read in one sitting: at most 6 KiB', () => {
  expect(Buffer.byteLength(read('README.md'))).toBeLessThanOrEqual(6 * 1024);
});

test.each([...pages, 'client/README.md'].filter((page) => !read(page).startsWith(generated)))(
  '%s is at most 8 KiB long, unless it is generated',
  (page) => {
    expect(Buffer.byteLength(read(page))).toBeLessThanOrEqual(8 * 1024);
  },
);

describe('commands', () => {
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
  const isHook = (name: string): boolean => name.startsWith('pre') && scripts[name.slice(3)] !== undefined;
  const commands = Object.keys(scripts).filter((name) => !isHook(name));

  test.each([...pages, ...globSync('scripts/**/*.{ts,mjs}', { cwd: root })])('that %s names are there', (page) => {
    const named = [...read(page).matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  test.each(commands)('npm run %s installs what it needs, and docs/reference/commands.md says what it does', (name) => {
    expect(scripts[`pre${name}`]).toBe('node scripts/install.mjs');
    const rows = read('docs/reference/commands.md')
      .split('\n')
      .filter((line) => line.startsWith('| `npm '));
    expect(rows.join('\n')).toMatch(new RegExp(`\`npm (?:run )?${name}[\` ]`));
  });
});

test('docs/reference/commands.md has every setting of npm start', () => {
  const names = [
    ...read('infra/local/settings.ts').matchAll(/(?:env\.|'|\{ ?|, )([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|PORT|LOG)\b/g),
  ];
  const rows = read('docs/reference/commands.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const explained = rows.map((line) => line.split('|')[1]).join();
  expect(names.length).toBeGreaterThan(20);
  expect(names.map(([, name = '']) => name).filter((name) => !explained.includes(`\`${name}\``))).toEqual([]);
});

describe.each([...pages, 'client/README.md'])('blocks of %s for a shell', (page) => {
  const blocks = [...read(page).matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) =>
    block.replaceAll(/<<'END'\n.*?^END$/gms, ''),
  );
  const found = (pattern: RegExp): readonly string[] => blocks.flatMap((block) => block.match(pattern) ?? []);
  const unquoted = blocks
    .join('')
    .replaceAll(/'[^']*'/g, "''")
    .replaceAll(/"(?:\\.|[^"\\])*"/g, '""');

  test('work in zsh as in bash: no pattern outside of quotes, and no variable that a shell keeps for itself', () => {
    expect(unquoted.split('\n').filter((line) => /[?*[]/.test(line))).toEqual([]);
    expect(found(/\b(?:LINES|COLUMNS|path|status|argv)=/g)).toEqual([]);
  });

  test('have no comment, which an interactive zsh takes for arguments', () => {
    const commands = [...read(page).matchAll(/^```(?:sh)?\n(.*?)^```/gms)]
      .map(([, block = '']) => block.replaceAll(/<<'END'\n.*?^END$/gms, ''))
      .filter((block) => /^(?:npm|npx|curl|node|node_modules\S+) /m.test(block))
      .join('')
      .replaceAll(/'[^']*'/g, "''")
      .replaceAll(/"(?:\\.|[^"\\])*"/g, '""');
    expect(commands.split('\n').filter((line) => /(?:^|\s)#/.test(line))).toEqual([]);
  });

  test('write files where git, the linter and the tests do not look', () => {
    const written = found(/(?<=\bcurl [^|\n]*-s?o |\bcat > )[^ \n]+/g);
    const isOwn = /^\.basalt\/|^\/dev\/null$/;
    // Blocks of the client's page run in the folder of an app.
    expect(page === 'client/README.md' ? [] : written.filter((file) => !isOwn.test(file))).toEqual([]);
  });

  test('run what is in TypeScript by the Node that comes along', () => {
    expect(found(/^node .*\.ts\b.*$/gm)).toEqual([]);
  });
});

test.each(globSync('docs/{operate,concepts}/*.md', { cwd: root }))(
  '%s has lines of at most 160 characters, cells of at most 20 words and no word that readers stumble over',
  (page) => {
    const outsideCode = read(page).replaceAll(/^ *```.*?^ *```$/gms, '');
    const lines = outsideCode.split('\n').map((line) => line.replaceAll(/\]\([^)]*\)/g, ']'));
    const isRow = (line: string): boolean => /^ *\|/.test(line);
    const prose = lines.filter((line) => !isRow(line));
    const cells = lines.filter(isRow).flatMap((row) => row.split('|').map((cell) => cell.trim()));
    expect(prose.filter((line) => line.length > 160)).toEqual([]);
    expect(cells.filter((cell) => cell.split(/\s+/).length > 20)).toEqual([]);
    expect(
      prose.filter((line) => /\b(?:whoever|anew|besides|by itself|goes on|at once|anybody|somebody)\b/i.test(line)),
    ).toEqual([]);
  },
);

test('guides create collections of names of their own in the demo project', () => {
  const made = pages.flatMap((page) =>
    [...read(page).matchAll(/\$PROJECT\/collections\b[^{\n]*-d '\{\s*"name": ?"(\w+)"/g)].map(([, name = '']) => name),
  );
  expect(made.length).toBeGreaterThan(5);
  expect(made.filter((name, at) => made.indexOf(name) !== at)).toEqual([]);
});

describe('pages written by npm run docs', () => {
  test.each([...referencePages()])(
    'docs/reference/%s is what the code says (otherwise run npm run docs)',
    (page, text) => {
      expect(read(`docs/reference/${page}`)).toBe(text);
    },
  );

  test('every setting has a type or default, and a meaning', () => {
    const rows = [...(referencePages().get('settings.md') ?? '').matchAll(/^\| `.+/gm)].map(([row]) => row);
    expect(rows.length).toBeGreaterThan(90);
    expect(rows.filter((row) => !/^\| `[\w.]+` \| .*\| [^|]+\.[^|]* \|$/.test(row.replaceAll('\\|', '')))).toEqual([]);
  });

  test('every area of routes is on one of them', () => {
    expect([...shownAreas].sort()).toEqual([...Object.keys(publicRoutes), ...Object.keys(dashboardRoutes)].sort());
  });

  test.each(Object.keys(statusOf))('error code %s has a meaning and an anchor', (code) => {
    expect(meaningsOfCodes().get(code)).toMatch(/^[A-Z`].*\.$/);
    expect(anchorsOf('docs/reference/errors.md')).toContain(code.toLowerCase());
  });
});

describe('links', () => {
  test.each([...pages, 'CHANGELOG.md', 'test/threats.md'])('of %s lead to what is there', (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link);
    const dead = links.filter((link) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? page : path.join(path.dirname(page), file);
      if (!existsSync(path.join(root, target))) return true;
      return anchor !== undefined && !anchorsOf(target).includes(anchor);
    });
    expect(dead).toEqual([]);
  });
});
