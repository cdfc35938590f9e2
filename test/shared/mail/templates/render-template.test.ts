import { describe, expect, test } from 'vitest';
import {
  type BuiltInKey,
  builtInKeyOf,
  builtInKeys,
  builtInTemplates,
} from '../../../../shared/mail/templates/built-in.ts';
import {
  type MailContent,
  type MailTemplate,
  maxPartLength,
  renderTemplate,
  type Variables,
} from '../../../../shared/mail/templates/render.ts';
import { refusalOf } from '../../../support/data/refusal.ts';

const link = 'https://app.example.com/verify-email?token=abc_DEF-123&x=1';
const code = 'ABCD-2345';
const given = { link, code, minutes: '10' };

const template = (content: Partial<MailContent>): MailTemplate => ({
  name: 'sample',
  siteName: 'Notes & Co',
  subject: 'Hello',
  html: null,
  text: null,
  ...content,
});

const builtIn = (key: BuiltInKey, variables: Variables, siteName = 'Notes & Co') =>
  renderTemplate({ ...builtInTemplates[key], siteName }, variables);

describe.each(['verification', 'password-reset'] as const)('the built-in email %s', (key) => {
  test('shows site, link, code and minutes in html and text', () => {
    const { subject, html, text } = builtIn(key, given);
    expect(subject).toContain('Notes & Co');
    expect(text).toContain('Notes & Co');
    expect(text).toContain(link);
    expect(html).toContain('Notes &amp; Co');
    expect(html).toContain(`href="${link.replace('&', '&amp;')}"`);
    for (const body of [html, text]) {
      expect(body).toContain(code);
      expect(body).toContain('10 minutes');
    }
  });

  test.each([
    ['an empty link', { ...given, link: '' }],
    ['no link', { code, minutes: '10' }],
    ['a link that is no text', { ...given, link: {} }],
  ])('shows only the code with %s', (_what, variables) => {
    const { html, text } = builtIn(key, variables);
    for (const body of [html, text]) {
      expect(body).toContain(code);
      expect(body).not.toMatch(/href|http|or enter/i);
    }
  });
});

describe.each(builtInKeys)('the built-in email %s', (key) => {
  test('leaves no placeholder', () => {
    for (const variables of [given, { ...given, link: '' }]) {
      const { subject, html, text } = builtIn(key, variables);
      expect(`${subject}${html}${text}`).not.toMatch(/[{}]{2}/);
    }
  });

  test('escapes the name of a site', () => {
    const { subject, html } = builtIn(key, given, '<script>x</script>\r\nBcc: a@example.com');
    expect(html).not.toContain('<script');
    expect(subject).not.toMatch(/[\r\n]/);
  });

  test('is found by key and name in any case', () => {
    for (const text of [key, key.toUpperCase(), builtInTemplates[key].name, ` ${builtInTemplates[key].name} `]) {
      expect(builtInKeyOf(text)).toBe(key);
    }
  });
});

describe('the templates that the published client names', () => {
  const variables = { name: 'Yash', projectName: 'Acme', appUrl: 'https://acme.com', otp: '314159' };

  test.each([
    ['welcome', ['Acme', 'https://acme.com']],
    ['welcome-2', ['Yash', 'Acme', 'https://acme.com']],
    ['otp', ['314159', 'Acme']],
    ['password-reset', ['314159', 'Acme', 'https://acme.com']],
    ['invite', ['Yash', 'Acme', 'https://acme.com']],
  ] as const)('%s shows its variables by the client’s names', (key, shown) => {
    const { subject, html, text } = builtIn(key, variables);
    expect(subject).toContain('Acme');
    for (const part of shown) for (const body of [html, text]) expect(body).toContain(part);
  });

  test.each(['welcome-2', 'invite'] as const)('%s greets without a name, and has no link without a variable', (key) => {
    for (const body of Object.values(builtIn(key, {}))) expect(body).not.toMatch(/undefined|Hi ,|href|: *$/m);
    expect(builtIn(key, {}).text).toContain('Hi there,');
  });

  test('prefers our own names of variables', () => {
    const { text } = builtIn('otp', { ...variables, code: 'ABCD-2345', siteName: 'Notes' });
    expect(text).toContain('ABCD-2345');
    expect(text).toContain('Notes');
    expect(text).not.toMatch(/314159|Acme/);
  });
});

test.each(['', 'wel', '__proto__', 'constructor', 'toString'])('no built-in template is named %o', (text) => {
  expect(builtInKeyOf(text)).toBeUndefined();
});

describe('a template of a project', () => {
  test('renders only its own parts', () => {
    expect(renderTemplate(template({ text: 'Hi {{name}}' }), { name: 'Ada' })).toEqual({
      subject: 'Hello',
      html: null,
      text: 'Hi Ada',
    });
  });

  test.each<[string, Variables, string]>([
    ['the name of the project', {}, 'Notes & Co'],
    ['a variable of that name where one is given', { siteName: 'Mine' }, 'Mine'],
    ['nothing where that variable is null', { siteName: null }, ''],
  ])('has as siteName %s', (_what, variables, shown) => {
    expect(renderTemplate(template({ text: '{{siteName}}' }), variables).text).toBe(shown);
  });

  test.each<[string, string, Variables, MailContent]>([
    [
      'markup',
      '{{a}}|{{{a}}}',
      { a: '<b>&"\'' },
      { subject: '<b>&"\'|<b>&"\'', html: '&lt;b&gt;&amp;&quot;&#39;|<b>&"\'', text: '<b>&"\'|<b>&"\'' },
    ],
    [
      'a header injection',
      '{{a}}',
      { a: 'x\r\nBcc: b@example.com' },
      { subject: 'x  Bcc: b@example.com', html: 'x\r\nBcc: b@example.com', text: 'x\r\nBcc: b@example.com' },
    ],
    [
      'inherited properties',
      '[{{constructor.name}}{{__proto__}}{{toString}}]',
      {},
      { subject: '[]', html: '[]', text: '[]' },
    ],
    [
      'a variable named constructor',
      '{{constructor}}',
      { constructor: 'own' } as unknown as Variables,
      { subject: 'own', html: 'own', text: 'own' },
    ],
    [
      'a template in a value',
      '{{a}}',
      { a: '{{{b}}}', b: 'x' },
      { subject: '{{{b}}}', html: '{{{b}}}', text: '{{{b}}}' },
    ],
    ['code', '{{a}}{{1+1}}{{a()}}', { a: '#{1}' }, { subject: '#{1}', html: '#{1}', text: '#{1}' }],
    [
      'objects and functions',
      '[{{a}}{{b}}]',
      { a: { toString: 'x' }, b: () => 'x' },
      { subject: '[]', html: '[]', text: '[]' },
    ],
  ])('renders %s literally', (_what, source, variables, mail) => {
    expect(renderTemplate(template({ subject: source, html: source, text: source }), variables)).toEqual(mail);
  });

  test.each<[string, Partial<MailContent>, Variables]>([
    // Rendered first, this text would be longer than a string can be.
    ['html that repeats a value', { html: '{{a}}'.repeat(50_000) }, { a: 'x'.repeat(100_000) }],
    ['html that a value makes longer by its escapes', { html: '{{a}}' }, { a: '"'.repeat(maxPartLength / 2) }],
    ['text with a value that is too long', { text: '{{{a}}}' }, { a: 'x'.repeat(maxPartLength + 1) }],
    ['a subject that repeats a value', { subject: '{{a}}'.repeat(90), text: 'x' }, { a: 'x'.repeat(100_000) }],
  ])('400 INVALID_MAIL: %s, before it is rendered', (_what, content, variables) => {
    expect(refusalOf(() => renderTemplate(template(content), variables)).code).toBe('INVALID_MAIL');
  });

  test('may be as long as an email', () => {
    const text = renderTemplate(template({ text: 'ab{{a}}' }), { a: 'x'.repeat(maxPartLength - 2) }).text;
    expect(text).toHaveLength(maxPartLength);
  });

  // These would exceed the test's time if they took more than linear time.
  test.each([
    ['placeholders', '{{a.b.c}}'.repeat(115_000)],
    ['open braces', '{{ '.repeat(340_000)],
    ['one long path', `{{${'a.'.repeat(520_000)}b}}`],
    ['spaces', `{{a${' '.repeat(1_040_000)}`],
  ])('is rendered with a MiB of %s', (_what, html) => {
    expect(renderTemplate(template({ html }), { a: { b: { c: 'x' } } }).html).toBeDefined();
  });
});
