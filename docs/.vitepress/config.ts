import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitepress';

const root = path.resolve(import.meta.dirname, '../..');

/** File of the repository → its page on the site; the same rule for links and for files. */
const pageOf = (file: string): string =>
  file
    .replace(/^docs\//, '')
    .replace(/^client\/README\.md$/, 'client.md')
    .replace(/README\.md$/, 'index.md');

const isPage = (file: string): boolean => /^(?:docs\/.+|client\/README|[A-Z]+)\.md$/.test(file);

/** Anchors as GitHub makes them of headings, so that links work in both places. */
const githubAnchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** Braces of the text are text, not expressions of Vue. */
const plainBraces = (md: import('vitepress').MarkdownRenderer): void => {
  for (const name of ['text', 'code_inline'] as const) {
    const render = md.renderer.rules[name];
    md.renderer.rules[name] = (...args) => (render?.(...args) ?? '').replaceAll('{{', '&#123;&#123;');
  }
};

/** Leads links between files to their pages. A link to a file that is not on the site becomes plain text. */
const siteLinks = (md: import('vitepress').MarkdownRenderer): void => {
  md.core.ruler.push('site-links', ({ tokens, env }) => {
    const from = path.relative(root, env.realPath ?? env.path);
    for (const { children } of tokens) {
      let isDropped = false;
      for (const token of children ?? []) {
        if (token.type === 'link_close' && isDropped) {
          token.hidden = true;
          Object.assign(token, { type: 'text', tag: '', content: '', nesting: 0 });
          isDropped = false;
        }
        const href = token.type === 'link_open' ? token.attrGet('href') : null;
        if (!href || /^(?:[a-z]+:|#)/.test(href)) continue;
        const [target = '', anchor] = href.split('#');
        const named = path.join(path.dirname(from), target);
        const file = existsSync(path.join(root, named, 'README.md')) ? path.join(named, 'README.md') : named;
        if (isPage(file)) {
          const page = pageOf(file).replace(/(?:^|(?<=\/))index\.md$|\.md$/, '');
          token.attrSet('href', `/${page}${anchor === undefined ? '' : `#${anchor}`}`);
        } else {
          Object.assign(token, { type: 'text', tag: '', content: '', nesting: 0 });
          isDropped = true;
        }
      }
    }
  });
};

/** The first heading of a page, which the sidebar shows. */
const titleOf = (file: string): string =>
  /^# (.+)$/m.exec(readFileSync(path.join(root, file), 'utf8'))?.[1]?.replaceAll('`', '') ?? file;

const link = (file: string) => ({
  text: titleOf(file),
  link: `/${pageOf(file).replace(/(?:^|(?<=\/))index\.md$|\.md$/, '')}`,
});

/** A part of the sidebar: the pages of a folder in the order of its README, then those that the README does not list. */
const part = (text: string, folder: string, isCollapsed = true, leftOut: readonly string[] = []) => {
  const readme = path.join(folder, 'README.md');
  const listed = existsSync(path.join(root, readme))
    ? [...readFileSync(path.join(root, readme), 'utf8').matchAll(/\]\(([\w./-]+\.md)/g)].map(([, to = '']) =>
        path.join(folder, to),
      )
    : [];
  const others = readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join(folder, name))
    .sort();
  const files = [...new Set([...listed.filter((file) => file.startsWith('docs/')), ...others])];
  return { text, collapsed: isCollapsed, items: files.filter((file) => file !== readme && !file.startsWith('docs/start/') && !leftOut.includes(file)).map(link) };
};

/** The pages with the exact rules, in the order of their table in the README of the reference. */
const pagesOfRules = (): readonly string[] =>
  [
    ...readFileSync(path.join(root, 'docs/reference/README.md'), 'utf8').matchAll(
      /^\| (?:\d|specification) \| \[.+\]\((.+)\) \|$/gm,
    ),
  ].map(([, page = '']) => `docs/reference/${page}`);

const rules = () => ({ text: 'Exact rules', collapsed: true, items: pagesOfRules().map(link) });

/** Scripts of a page are files, so that the policy of the documents allows no others. */
const inline = /<script id="check-[\w-]+">(.*?)<\/script>\s*/gs;
let firstScript = '';

export default defineConfig({
  title: 'Basalt',
  description: 'A hosted backend: documents, user accounts, files and mail behind one HTTP API.',
  lang: 'en',
  base: '/docs/',
  srcDir: '..',
  srcExclude: ['!(docs|client)/*', '!(docs|client)/*/**', 'client/!(README).md', 'client/*/**'],
  ignoreDeadLinks: 'localhostLinks',
  outDir: '../dist/docs',
  cacheDir: '../dist/.vitepress',
  rewrites: pageOf,
  cleanUrls: true,
  metaChunk: true,
  head: [['link', { rel: 'icon', href: '/docs/icon.svg' }]],
  markdown: {
    anchor: { slugify: githubAnchor },
    config: (md) => {
      siteLinks(md);
      plainBraces(md);
    },
  },
  transformHtml: (html) => {
    firstScript = [...html.matchAll(inline)].map(([, code]) => code).join('\n') || firstScript;
    let isFirst = true;
    return html.replaceAll(inline, () => {
      if (!isFirst) return '';
      isFirst = false;
      return '<script src="/docs/first.js"></script>\n    ';
    });
  },
  buildEnd: ({ outDir }) => {
    writeFileSync(path.join(outDir, 'first.js'), firstScript);
    copyFileSync(path.join(root, 'console/icon.svg'), path.join(outDir, 'icon.svg'));
  },
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  themeConfig: {
    logo: '/icon.svg',
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: [
      {
        text: 'Start',
        items: [{ text: 'Overview', link: '/' }, link('docs/start/first-app.md'), link('client/README.md')],
      },
      part('Guides', 'docs/guides', false),
      part('Reference', 'docs/reference', true, pagesOfRules()),
      rules(),
      part('Operation', 'docs/operate'),
      part('Concepts', 'docs/concepts'),
      link('docs/decisions/README.md'),
    ],
    docFooter: { prev: false, next: false },
    externalLinkIcon: false,
  },
});
