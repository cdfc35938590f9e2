import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import { type ErrorCode, statusOf } from '../../shared/core/errors.ts';
import type { RouteTable } from '../../shared/http/route.ts';
import { type Plan, plans } from '../../shared/projects/plans.ts';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root })];

test('the README is read in one sitting: at most 6 KiB', () => {
  expect(Buffer.byteLength(read('README.md'))).toBeLessThanOrEqual(6 * 1024);
});

describe('commands', () => {
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
  const isHook = (name: string): boolean => name.startsWith('pre') && scripts[name.slice(3)] !== undefined;
  const commands = Object.keys(scripts).filter((name) => !isHook(name));

  test.each([...pages, ...globSync('scripts/**/*.{ts,mjs}', { cwd: root })])('that %s names are there', (page) => {
    const named = [...read(page).matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  test.each(commands)('npm run %s installs what it needs, and docs/commands.md says what it does', (name) => {
    expect(scripts[`pre${name}`]).toBe('node scripts/install.mjs');
    const rows = read('docs/commands.md')
      .split('\n')
      .filter((line) => line.startsWith('| `npm '));
    expect(rows.join('\n')).toMatch(new RegExp(`\`npm (?:run )?${name}[\` ]`));
  });
});

test('docs/commands.md has every setting of npm start', () => {
  const names = [
    ...read('infra/local/settings.ts').matchAll(/(?:env\.|'|\{ ?|, )([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|PORT|LOG)\b/g),
  ];
  const rows = read('docs/commands.md')
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
    // That of the client is for the folder of an app.
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

describe('made of the code (after a change there, run this test with -u)', () => {
  test('docs/errors.md has every code of errors.ts, with its status and meaning', async () => {
    const lines = [...read('shared/core/errors.ts').matchAll(/^ {2}([A-Z_]+): (\d{3}),(?: \/\/ (.+))?$/gm)];
    const meanings = new Map(lines.map(([, code = '', , meaning = '']) => [code, meaning]));
    expect([...meanings].filter(([, meaning]) => !/^[A-Z`].*\.$/.test(meaning))).toEqual([]);
    const codes = (Object.keys(statusOf) as ErrorCode[]).sort();
    expect([...meanings.keys()].sort()).toEqual(codes);
    const rows = codes.map((code) => `| \`${code}\` | ${statusOf[code]} | ${meanings.get(code)} |\n`);
    await expect(`# Error codes

Every error response is \`{"success": false, "message", "code", "requestId"}\`; failed validations add \`errors\`.
A code always has the same status. The message says what to do in this case. Responses with 429 and 503 have \`Retry-After\`.
Which routes return which codes is in the [contract](contract.md#1-everywhere).

| Code | Status | Meaning |
|---|---|---|
${rows.join('')}`).toMatchFileSnapshot(path.join(root, 'docs/errors.md'));
  });

  test('docs/limits.md has every limit of plans.ts', async () => {
    const size = (bytes: number): string => (bytes >= 2 ** 30 ? `${bytes / 2 ** 30} GiB` : `${bytes / 2 ** 20} MiB`);
    const number = (many: number): string => String(many).replace(/\B(?=(?:\d{3})+$)/g, ' ');
    const titles: Readonly<Record<keyof Plan, readonly [string, (value: number) => string]>> = {
      projects: ['Projects of a developer', number],
      collections: ['Collections of a project', number],
      users: ['Users of a project', number],
      databaseBytes: ['Documents of a project', size],
      storageBytes: ['Files of a project', size],
      variantBytes: ['Sizes of pictures that are kept for a project, the oldest make room', size],
      userStorageBytes: ['Files that one user has uploaded, open uploads included', size],
      userFiles: ['Number of such files of one user', number],
      userReservations: ['Open uploads of one user', number],
      mailsPerMonth: ['Emails of a project in a month', number],
      recipientsPerMonth: ['Recipients of all projects of a developer in a month, with the shared mail key', number],
      accountMailsPerDay: ['Emails about user accounts of a project in a day, with the shared mail key', number],
      proposals: ['Proposals of the schema assistant for a project in a month', number],
      webhooks: ['Webhooks of a project', number],
      transfers: ['Exports and imports of a project at the same time', number],
      exportBytes: ['Exports of a project that are kept', size],
    };
    const names = Object.keys(plans) as (keyof typeof plans)[];
    const rows = (Object.keys(titles) as (keyof Plan)[]).map((limit) => {
      const [title, shown] = titles[limit];
      const cells = names
        .map((name) => plans[name][limit])
        .map((value) => (value === null ? 'no limit' : shown(value)));
      return `| ${title} | ${cells.join(' | ')} |\n`;
    });
    await expect(`# Limits

The operator sets a developer's plan; it counts for all projects of that developer. A project that brings its own database or bucket has no limit there.

| Limit | ${names.map((name) => `\`${name}\``).join(' | ')} |
|---|${names.map(() => '---|').join('')}
${rows.join('')}
A request beyond a limit returns 403 or 429 with one of the [codes](errors.md) \`PLAN_LIMIT\`, \`DATABASE_QUOTA_EXCEEDED\`, \`STORAGE_QUOTA_EXCEEDED\`, \`USER_QUOTA_EXCEEDED\`, \`MAIL_QUOTA_EXCEEDED\` and
\`ASSISTANT_QUOTA_EXCEEDED\`.

Limits that do not depend on the plan, for example the size of a document (4 MiB) or of a hosted file (10 MiB), are in the [contract](contract.md#limits).
`).toMatchFileSnapshot(path.join(root, 'docs/limits.md'));
  });
});

describe('links', () => {
  /** As GitHub makes them of headings. */
  const anchorsOf = (page: string): readonly string[] =>
    [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    );

  test.each([...pages, 'CHANGELOG.md'])('of %s lead to what is there', (page) => {
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

describe('routes', () => {
  /** Parameters have shorter names in the guides. */
  const plain = (route: string): string => route.replaceAll(/:\w+|\{\w+\}/g, ':');

  const routesOf = (tables: Readonly<Record<string, RouteTable>>): readonly string[] =>
    Object.values(tables).flatMap((table) =>
      Object.values(table).flatMap(({ method, path: at }) => [method].flat().map((each) => plain(`${each} ${at}`))),
    );

  /**
   * What the first cells of a guide's tables name: `GET POST /path` is two routes; `short` stands for the beginning of
   * a path.
   */
  const listedIn = (page: string, short: string, long: string): readonly string[] =>
    read(page)
      .split('\n')
      .flatMap((line) => /^\| (`[A-Z]+ .*?) \|/.exec(line)?.[1] ?? [])
      .flatMap((cell) => [...cell.matchAll(/`((?:[A-Z]+ )+)([^`]+)`/g)])
      .flatMap(([, methods = '', at = '']) =>
        methods
          .trim()
          .split(' ')
          .map((method) => plain(`${method} ${at.startsWith(short) ? long + at.slice(short.length) : at}`)),
      );

  const onBoth = listedIn('docs/operate/health.md', '/', '/');

  const requireEach = (known: readonly string[], listed: readonly string[]): void => {
    expect({
      missingInGuides: known.filter((route) => !listed.includes(route)),
      notInTable: listed.filter((route) => !known.includes(route)),
      listedTwice: listed.filter((route, at) => listed.indexOf(route) !== at),
    }).toEqual({ missingInGuides: [], notInTable: [], listedTwice: [] });
  };

  test('docs/reference/dashboard-routes.md or docs/operate/health.md lists each of the dashboard API once', () => {
    const listed = listedIn('docs/reference/dashboard-routes.md', '…', '/api/projects/:projectId');
    requireEach(routesOf(dashboardRoutes), [...listed, ...onBoth]);
  });

  test('docs/reference/api-routes.md or docs/operate/health.md lists each of the public API once', () => {
    const known = routesOf(publicRoutes).filter((route) => !route.includes('$default'));
    requireEach(known, [...listedIn('docs/reference/api-routes.md', '/', '/'), ...onBoth]);
  });
});
