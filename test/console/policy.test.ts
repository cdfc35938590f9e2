import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { type OpenPage, openChromium, signIn } from '../support/clients/chromium.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;

beforeAll(async () => {
  browser = await openChromium();
  project = await newProject([{ name: 'posts' }]);
  opened = await browser.newPage();
  await opened.page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/documents/posts`);
  await signIn(opened.page, project.developer);
  await opened.page.getByRole('heading', { name: 'posts' }).waitFor();
});

afterAll(() => browser.close());

/** Returns the violations that the browser has reported since the last test. */
const refusals = async (): Promise<readonly string[]> => opened.page.evaluate('globalThis.refused');

beforeEach(async () => {
  await opened.page.evaluate(`
    globalThis.refused = [];
    globalThis.ran = false;
    document.onsecuritypolicyviolation = ({ effectiveDirective }) => refused.push(effectiveDirective);
  `);
  opened.problems.length = 0;
});

/** Runs a script as a hostile page would, and ignores its exceptions. */
const run = (script: string): Promise<unknown> => opened.page.evaluate(`(() => { try { ${script} } catch {} })()`);

const element = (name: string, act: string): string =>
  `const it = document.createElement('${name}'); ${act}; document.body.append(it)`;

describe('content security policy', () => {
  const other = 'http://localhost:3000';
  const markup = 'require-trusted-types-for';
  test.each([
    ['a script in the page', element('script', "it.append('ran = true')"), markup],
    ['a script of another site', element('script', `it.src = '${other}/x.js'`), markup],
    ['a handler in an attribute', element('b', "it.setAttribute('onclick', 'ran = true')"), markup],
    ['a text that is run', "setTimeout('ran = true')", markup],
    ['markup that is written into the page', "document.body.innerHTML += '<img src=x onerror=ran=true>'", markup],
    ['a javascript: link', `${element('a', "it.href = 'javascript:ran=true'")}; it.click()`, 'script-src-elem'],
    ['a style in the page', element('style', "it.append('body { color: red }')"), 'style-src-elem'],
    ['another place of all relative links', element('base', `it.href = '${other}/'`), 'base-uri'],
    ['a form to another site', `${element('form', `it.action = '${other}/'`)}; it.submit()`, 'form-action'],
    ['a request to another site', `fetch('${other}/').catch(() => 0)`, 'connect-src'],
    ['a picture of another site', element('img', `it.src = '${other}/x.png'`), 'img-src'],
    ['a frame of another site', element('iframe', `it.src = '${other}/'`), 'frame-src'],
  ])('blocks %s', async (_what, script, directive) => {
    await run(script);
    await expect.poll(refusals).toContain(directive);
    expect(await opened.page.evaluate('ran')).toBe(false);
  });

  test('does not let a page of another site show the console in a frame', async () => {
    const other = await browser.newPage();
    await other.page.goto(`${inject('stack').env.MAIL_PROVIDER_URL}/inbox`);
    await other.page.setContent(`<iframe src="${inject('stack').dashboardUrl}/sign-in"></iframe>`);
    await expect.poll(() => other.problems.join()).toContain('frame-ancestors');
  });
});

describe('content that the console needs', () => {
  test('uploads, images of public files and requests to the public API are allowed', async () => {
    const dot = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
    const size = Buffer.from(dot, 'base64').length;
    const asked = await project.api<{ signedUrl: string; filePath: string }>('POST', '/api/storage/upload-request', {
      body: { filename: 'dot.gif', contentType: 'image/gif', size },
    });
    const { signedUrl, filePath } = asked.body;
    expect(
      await opened.page.evaluate(`fetch(${JSON.stringify(signedUrl)}, {
        method: 'PUT',
        headers: { 'content-type': 'image/gif' },
        body: Uint8Array.from(atob('${dot}'), (letter) => letter.charCodeAt(0)),
      }).then(({ status }) => status)`),
    ).toBe(200);
    const { url } = (
      await project.api<{ url: string }>('POST', '/api/storage/upload-confirm', { body: { filePath, size } })
    ).body;
    expect(
      await opened.page.evaluate(`(async () => {
        const picture = new Image();
        picture.src = ${JSON.stringify(url)};
        await picture.decode();
        return picture.naturalWidth;
      })()`),
    ).toBe(1);
    expect(
      await opened.page.evaluate(`fetch(${JSON.stringify(inject('stack').baseUrl)} + '/api/data/posts', {
        headers: { 'x-api-key': ${JSON.stringify(project.publishableKey)} },
      }).then(({ status }) => status)`),
    ).toBe(200);
    expect(await refusals()).toEqual([]);
    expect(opened.problems).toEqual([]);
  });
});
