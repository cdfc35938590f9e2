import { describe, expect, test } from 'vitest';
import { renderTemplate, type Variables } from '../../../../shared/mail/templates/render.ts';

const fillIn = (part: 'html' | 'text' | 'subject') => (words: string, variables: Variables) =>
  renderTemplate({ name: '', siteName: '', subject: '', html: null, text: null, [part]: words }, variables)[part];

const [interpolateHtml, interpolateText, interpolateSubject] = [fillIn('html'), fillIn('text'), fillIn('subject')];

const evil = '<img src=x onerror="alert(\'&\')">';
const escaped = '&lt;img src=x onerror=&quot;alert(&#39;&amp;&#39;)&quot;&gt;';

type Case = readonly [title: string, template: string, variables: Variables, filled: string];

const everywhere: readonly Case[] = [
  ['no placeholder', 'Hello', { name: 'Ada' }, 'Hello'],
  ['one placeholder', 'Hello {{name}}!', { name: 'Ada' }, 'Hello Ada!'],
  ['spaces inside the braces', '{{ name }}{{\tname\n}}', { name: 'Ada' }, 'AdaAda'],
  ['one placeholder twice', '{{a}}-{{a}}', { a: 1 }, '1-1'],
  ['numbers and booleans', '{{a}} {{b}} {{c}}', { a: 1.5, b: true, c: 0 }, '1.5 true 0'],
  ['a missing variable is empty', '[{{missing}}]', {}, '[]'],
  ['null, objects and arrays are empty', '[{{a}}{{b}}{{c}}]', { a: null, b: { c: 1 }, c: [1] }, '[]'],
  ['a dotted path', '{{user.name.first}}', { user: { name: { first: 'Ada' } } }, 'Ada'],
  ['an element of an array', '{{items.1.name}}', { items: [{}, { name: 'b' }] }, 'b'],
  ['a path through nothing', '[{{a.b.c}}]', { a: null }, '[]'],
  ['a path into text', '[{{a.length}}]', { a: 'abc' }, '[]'],
  ['nothing inherited', '[{{constructor}}{{__proto__.a}}{{toString.name}}{{a.constructor.name}}]', { a: {} }, '[]'],
  ['a variable of its own named __proto__', '{{__proto__}}', JSON.parse('{"__proto__":"x"}') as Variables, 'x'],
  ['a value that looks like a placeholder', '{{a}}', { a: '{{b}}', b: 'secret' }, '{{b}}'],
  ['a value with replacement patterns', '[{{a}}]', { a: '$1 $$ $`' }, '[$1 $$ $`]'],
  ['empty and broken braces stay', '{{}} {{ }} {{a b}} {a} {{a', { a: 1 }, '{{}} {{ }} {{a b}} {a} {{a'],
  ['braces side by side', '{{{a}}}{{a}}', { a: 'x' }, 'xx'],
];

describe.each([
  ['html', interpolateHtml],
  ['text', interpolateText],
  ['the subject', interpolateSubject],
] as const)('in %s', (_where, interpolate) => {
  test.each(everywhere)('%s', (_title, template, variables, filled) => {
    expect(interpolate(template, variables)).toBe(filled);
  });

  // These would exceed the test's time if they took more than linear time.
  test.each(['{'.repeat(1_000_000), '{{ '.repeat(330_000), `{{${' '.repeat(1_000_000)}`])(
    'a million braces and spaces are unchanged',
    (template) => {
      expect(interpolate(template, {}) === template).toBe(true);
    },
  );
});

describe('a value with HTML characters', () => {
  test('is escaped in html', () => {
    expect(interpolateHtml('<p title="{{a}}">{{ a }}</p>', { a: evil })).toBe(`<p title="${escaped}">${escaped}</p>`);
  });

  test('is raw in html with three braces', () => {
    expect(interpolateHtml('<p>{{{a}}}</p>', { a: evil })).toBe(`<p>${evil}</p>`);
  });

  test.each([
    ['text', interpolateText],
    ['the subject', interpolateSubject],
  ] as const)('is raw in %s', (_where, interpolate) => {
    expect(interpolate('{{a}} {{{a}}}', { a: evil })).toBe(`${evil} ${evil}`);
  });
});

describe('control characters of a value', () => {
  const value = 'a\r\nBcc: b@example.com\u0000\t\u007f\u0085\u2028\u2029z';

  test('become spaces in the subject, with two braces or three', () => {
    const spaced = 'a  Bcc: b@example.com      z';
    expect(interpolateSubject('{{a}}|{{{a}}}', { a: value })).toBe(`${spaced}|${spaced}`);
  });

  test('stay in text', () => {
    expect(interpolateText('{{a}}', { a: value })).toBe(value);
  });
});
